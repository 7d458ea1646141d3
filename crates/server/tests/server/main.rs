//! The server over real connections.

mod https;
mod revocation;
