//! The client against a server: the rows C1 to C10 of what a client must be able to do, each in its file.
//!
//! Without more it is a server in the test's own process. `CLIENT_TEST_CONNECTION_STRING` names another one.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "../support/mod.rs"]
mod support;

mod c2_point_reads;
mod c6_writes;
