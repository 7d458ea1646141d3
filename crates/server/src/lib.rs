//! HTTP in, HTTP out: connections, the server of a request, authentication, encoding, metrics.
//!
//! [`Server`] is the story of a request, from its head to its answer; start reading there. [`serve_service`] puts
//! a service on a port, [`serve_admin`] serves health and metrics on another.
//!
//! | on the server | in |
//! | --- | --- |
//! | identify the account | `endpoint.rs` |
//! | resolve the operation | `resolve/`, `operation.rs` |
//! | authenticate, authorise | `auth/` |
//! | decode, call, encode | `table_api/`, `queue_api/`, `blob_api/` |
//! | respond | `answer.rs`, `content.rs`, `respond.rs` |
//! | tell about it | `observe.rs`, `finished.rs` |
//!
//! What bounds the memory of all requests together is in `room.rs`, with the times in `body.rs`, `upload.rs`,
//! `progress.rs` and `sending.rs`.

mod accounts;
mod admin;
mod answer;
mod auth;
mod blob_api;
mod body;
mod content;
mod cors;
mod endpoint;
mod escape;
mod finished;
mod headers;
mod listener;
mod load_page;
mod memory_budget;
mod metadata;
mod observe;
mod operation;
mod pipeline;
mod progress;
mod queue_api;
mod resolve;
mod respond;
mod sending;
mod service_api;
mod spelling;
mod table_api;
pub mod tls;
mod upload;

pub use accounts::{Account, Accounts};
pub use admin::serve_admin;
pub use listener::{Listening, serve_service};
pub use memory_budget::MemoryBudget;
pub use observe::Metrics;
pub use operation::Operation;
pub use pipeline::Server;
