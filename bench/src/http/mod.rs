//! HTTP as the load generator needs it: signed requests as bytes, a connection, and where a response ends.

pub mod answer;
pub mod caller;
pub mod clock;
pub mod connection;
pub mod header_caller;
