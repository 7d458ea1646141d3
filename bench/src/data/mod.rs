//! The entities, tables and contents of blobs that all work is done with.

pub mod content;
pub mod dataset;
pub mod employee;
pub mod entity;
