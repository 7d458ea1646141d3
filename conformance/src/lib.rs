//! Black-box cases for servers that speak the protocols of Azure Table, Queue and Blob Storage.
//!
//! Every case is a handful of HTTP requests, written out as bytes, and what must come back. The crate shares no
//! code with any server: it has its own client, its own signing and its own idea of the rules, so that a mistake in
//! one of them cannot hide the same mistake in the other.
//!
//! It is neither a load test nor a client library, nor does it check what a particular SDK needs (see `sdk/`).
//!
//! - [`target`]: which account receives the requests, and how it is addressed.
//! - [`http`], [`request`], [`response`]: one request, one connection, one response; [`socket`] for malformed bytes.
//! - [`sign`], [`sign_headers`], [`sas`]: Shared Key, Shared Key Lite, shared access signatures of services and accounts.
//! - [`session`], [`table`], [`queue`], [`container`]: what one case works with; what it made is dropped after it.
//! - [`batch`]: entity group transactions, written and read.
//! - [`expect`], [`pattern`], [`xml`]: saying what was expected, readably.
//! - [`case`], [`mod@cases`], [`error_codes`]: the cases, and which of them provokes which published error code.
//! - [`runner`], [`known`]: running them, and the checked-in differences of a target.

pub mod batch;
pub mod case;
pub mod cases;
pub mod clock;
pub mod container;
pub mod encode;
pub mod error_codes;
pub mod expect;
pub mod http;
pub mod known;
pub mod pattern;
pub mod queue;
pub mod request;
pub mod response;
pub mod runner;
pub mod sas;
pub mod session;
pub mod sign;
pub mod sign_headers;
pub mod socket;
pub mod table;
pub mod target;
pub mod xml;

pub use case::{Case, Operation};
pub use expect::{Failure, Outcome};
pub use session::Session;
pub use target::Target;
