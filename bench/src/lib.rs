//! Tablerock beside its rivals: the same work, the same load generator, the same run.
//!
//! What it is not: a profiler, or a promise about another machine. Ratios carry over better than rates do.
//!
//! - [`rows`], [`plan`]: what is measured, and how much of it.
//! - [`measure`]: one file for each part of the table of targets.
//! - [`contest`], [`stage`], [`server`]: who takes part, in which order, in which processes.
//! - [`load`], [`connection`], [`answer`], [`caller`], [`header_caller`]: the load generator.
//! - [`workload`], [`dataset`], [`entity`], [`content`]: what is asked, and of which data.
//! - [`fjall_alone`], [`journal`]: the ceiling for writes.
//! - [`histogram`], [`process`], [`series`], [`results`], [`explained`]: from measurements to verdicts.
//! - [`machine`], [`sync_time`], [`versions`], [`report`]: the document.
//! - [`progress`]: for whoever waits.

pub mod answer;
pub mod caller;
pub mod clock;
pub mod connection;
pub mod content;
pub mod contest;
pub mod dataset;
pub mod entity;
pub mod explained;
pub mod fjall_alone;
pub mod header_caller;
pub mod histogram;
pub mod instructions;
pub mod journal;
pub mod load;
pub mod machine;
pub mod measure;
pub mod plan;
pub mod process;
pub mod progress;
pub mod report;
pub mod results;
pub mod rows;
pub mod series;
pub mod server;
pub mod stage;
pub mod sync_time;
pub mod versions;
pub mod workload;

/// An error is a sentence for whoever runs the benchmark.
pub type Result<T> = std::result::Result<T, String>;
