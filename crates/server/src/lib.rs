//! HTTP in, HTTP out: connections, authentication, encoding, logs and metrics.
//!
//! [`Server`] is the state that requests share. [`serve_service`] puts a service on a port, [`serve_admin`] serves health,
//! metrics and load on another. Start reading in `pipeline.rs`, which follows a request from its head to its response.
//!
//! | step | in |
//! | --- | --- |
//! | accept, read the head | `http/listener.rs` |
//! | find the account | `request_context.rs`, `http/endpoint.rs` |
//! | parse the operation and its target | `table/request.rs`, `queue/request.rs`, `blob/request.rs` |
//! | admit: authenticate and authorize | `auth/admit.rs`, by the rows of `operation/rows.rs` |
//! | decode, run, encode | `table/`, `queue/`, `blob/` |
//! | respond | `http/reply.rs`, `http/respond.rs` |
//! | record | `request_log.rs`, `metrics.rs`, `analytics_record.rs` |
//!
//! The bound on the memory of all requests together is in `memory_budget/`, those on time in `http/body.rs`,
//! `http/upload.rs`, `http/progress.rs`, `http/slow_reader.rs`, `http/head_limit.rs` and `http/http2.rs`.

mod accounts;
mod admin;
mod analytics_record;
mod auth;
mod blob;
mod call;
mod http;
mod memory_budget;
mod metrics;
mod operation;
mod parameter;
mod pipeline;
mod queue;
mod request_context;
mod request_log;
mod service_properties;
mod table;

pub use crate::accounts::{Account, Accounts, ServedAccounts};
pub use crate::admin::{Admin, AdminToken, serve_admin};
pub use crate::http::connections::Connections;
pub use crate::http::listener::{Listening, serve_service};
pub use crate::http::tls;
pub use crate::memory_budget::MemoryBudget;
pub use crate::metrics::Metrics;
pub use crate::operation::Operation;
pub use crate::pipeline::Server;
pub use crate::request_log::current_request_id;
