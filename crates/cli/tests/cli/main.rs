//! The binary as its users run it, and the services on the engines that it opens.
//!
//! Without a PostgreSQL, `cargo xtask test` leaves out the tests with `on_postgres` in their path.

mod admin_file;
mod analytics;
mod azurite;
mod blobs_on_disk;
mod copy;
mod copy_over_the_wire;
mod filters_under_writes;
mod fixtures;
mod loose;
mod many_servers;
mod pages_on_disk;
mod queues_on_disk;
mod reload;
mod request_log;
mod services;
mod signals;
mod start;
