//! Crash tests: the server is killed, loses power, gets faulty disks and hostile clients, and must keep every
//! acknowledged write.
//!
//! The server is a black box behind HTTP. `parts` lists the tests.
//!
//! - Workers and models: `workers` send generated writes to a service, and a `model` predicts the data that the server
//!   must have. `tables` and `blobs` implement both. `queues` records a history of all requests instead and checks it
//!   against rules. `workload` runs workers of all services at once.
//! - History: `history` computes the expected state at any earlier time, `expected_state` that of all services.
//! - Disk: `shim` preloads a library into the server that records its changes to files and injects faults. `disk`
//!   computes from the record what a power cut leaves.
//! - `linearizability` checks recorded histories of concurrent clients.

pub mod blobs;
pub mod client;
pub mod disk;
pub mod expected_state;
pub mod history;
pub mod linearizability;
pub mod model;
pub mod parts;
pub mod queues;
pub mod run;
pub mod running_workers;
pub mod server;
pub mod shim;
pub mod small_buffers;
pub mod tables;
pub mod workers;
pub mod workload;
