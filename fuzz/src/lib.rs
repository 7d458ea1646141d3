//! What strangers send and what a disk may hold, as fuzz targets.
//!
//! Each target is a module with a `check` that takes arbitrary bytes and panics if something that must always hold
//! does not: a round trip, the agreement of two implementations, a limit, the form of an error. It is not enough that
//! a parser survives if it is wrong. The fuzzers in `bin/` look for bytes that break a check; the tests replay those
//! that were worth keeping (`corpus/`) and those that once broke one (`regressions/`). See the README.

pub mod authorization;
pub mod batch;
pub mod body;
pub mod field;
pub mod filter;
pub mod json;
pub mod path;
pub mod request;
pub mod sas;
pub mod shared_key;
pub mod stored;
pub mod wire;

mod known_table;
mod refusal;

/// A target by its name, which is also that of its folders and, behind `fuzz-`, of its fuzzer.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub check: fn(&[u8]),
}

pub const TARGETS: [Target; 11] = [
    Target { name: "authorization", check: authorization::check },
    Target { name: "batch", check: batch::check },
    Target { name: "body", check: body::check },
    Target { name: "field", check: field::check },
    Target { name: "filter", check: filter::check },
    Target { name: "json", check: json::check },
    Target { name: "path", check: path::check },
    Target { name: "request", check: request::check },
    Target { name: "sas", check: sas::check },
    Target { name: "shared-key", check: shared_key::check },
    Target { name: "stored", check: stored::check },
];
