//! HTTP in, HTTP out: connections, the road of a request, authentication, encoding, metrics.
//!
//! [`Road`] is the story of a request, from its head to its answer; start reading there. [`serve_tables`] puts
//! it on a port, [`serve_admin`] serves health and metrics on another.
//!
//! | on the road | in |
//! | --- | --- |
//! | identify the account | `endpoint.rs` |
//! | resolve the operation | `resolve.rs`, `operation.rs` |
//! | authenticate, authorise | `auth.rs` |
//! | decode, call, encode | `table_api/` |
//! | respond | `answer.rs`, `respond.rs` |
//!
//! What bounds the memory of all requests together is in `room.rs`, with the times in `body.rs` and `sending.rs`.

mod accounts;
mod admin;
mod answer;
mod auth;
mod body;
mod cors;
mod endpoint;
mod headers;
mod listener;
mod observe;
mod operation;
mod resolve;
mod respond;
mod road;
mod room;
mod sending;
mod table_api;
pub mod tls;

pub use accounts::{Account, Accounts};
pub use admin::serve_admin;
pub use listener::{Listening, serve_tables};
pub use observe::Metrics;
pub use operation::Operation;
pub use road::Road;
pub use room::Room;
