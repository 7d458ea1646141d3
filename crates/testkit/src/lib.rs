//! What the tests of several crates share. Nothing of this ships: crates use it as a dev-dependency, tools as a dependency.
//!
//! | module | feature | owns |
//! | --- | --- | --- |
//! | `postgres` | – | a PostgreSQL of its own for a test |
//! | `test_database` | – | that PostgreSQL, or a database that is already there |
//! | `process` | – | the binary under test as a process |
//! | `server` | `server` | a server in the test's own process |
//! | `client` | `client` | an account on that server, a transport that fails on command, examples of the documentation |
//! | `blob_copies` | `models` | copies of blobs, as the models make them |
//! | `blob_model`, `page_model`, `queue_model` | `models` | services next to models of them, and random steps for both |
//!
//! The unit tests of a crate see another build of that crate than this one does, so types of the crate under test do not
//! pass between the two. Integration and doc tests see the same build.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[cfg(feature = "models")]
pub mod blob_copies;
#[cfg(feature = "models")]
pub mod blob_model;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "models")]
pub mod page_model;
#[cfg(feature = "models")]
mod page_requests;
pub mod postgres;
pub mod process;
#[cfg(feature = "models")]
pub mod queue_model;
#[cfg(feature = "server")]
pub mod server;
pub mod test_database;
