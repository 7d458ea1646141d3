//! The client against a server: the rows C1 to C10 of what a client must be able to do, each in its file.
//!
//! Without more it is a server in the test's own process. `CLIENT_TEST_CONNECTION_STRING` names another one.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod c10_retries;
mod c10_side_by_side;
mod c10_tracing;
mod c11_connections;
mod c11_policies;
mod c11_requests;
mod c1_credentials;
mod c1_identity;
mod c1_proxies;
mod c2_point_reads;
mod c2_points_at_once;
mod c3_filters;
mod c4_pages;
mod c5_projections;
mod c6_bulk;
mod c6_bulk_stream;
mod c6_tables;
mod c6_transactions;
mod c6_writes;
mod c7_mixed_types;
mod c7_schema_evolution;
mod c9_shared_access;
mod examples;
