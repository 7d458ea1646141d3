//! HTTP: connections, heads, bodies and responses, without any rule of a service.

pub(crate) mod body;
pub(crate) mod connections;
pub(crate) mod cors;
pub(crate) mod endpoint;
pub(crate) mod head_limit;
pub(crate) mod header_case;
pub(crate) mod headers;
pub(crate) mod http2;
pub(crate) mod list_marker;
pub(crate) mod listener;
pub(crate) mod metadata;
pub(crate) mod pass_through;
pub(crate) mod prefer;
pub(crate) mod progress;
pub(crate) mod reason_phrase;
pub(crate) mod reply;
pub(crate) mod request_body;
pub(crate) mod respond;
pub(crate) mod response_body;
pub(crate) mod slow_reader;
pub mod tls;
pub(crate) mod upload;
pub(crate) mod verb;
