//! Queues and block blobs, as far as patterns of table design need them, against a server.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod blobs;
mod c9_shared_access;
mod large_answers;
mod leases;
mod properties;
mod queues;
