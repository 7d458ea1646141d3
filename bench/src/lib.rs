//! Tablerock next to its rivals: the same work, the same load generator, the same run.
//!
//! What it is not: a profiler, or a promise about another machine. Ratios carry over better than rates do.
//!
//! - [`contest`]: the contestants, their order, their processes, the plan and the rows of the table.
//! - [`measure`]: one file for each part of the table of targets.
//! - [`load`], [`http`]: the load generator, and its requests and responses.
//! - [`workload`], [`data`]: the kinds of work, and the data for them.
//! - [`fjall_alone`]: the ceiling for writes.
//! - [`results`], [`report`]: from measurements to verdicts, and the document.
//! - [`instructions`]: instructions of single requests, under valgrind.

pub mod contest;
pub mod data;
pub mod fjall_alone;
pub mod http;
pub mod instructions;
pub mod load;
pub mod measure;
pub mod report;
pub mod results;
pub mod workload;

/// An error is a sentence for the person who runs the benchmark.
pub type Result<T> = std::result::Result<T, String>;
