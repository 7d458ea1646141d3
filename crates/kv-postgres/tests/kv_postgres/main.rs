//! The engine for many machines, on a real PostgreSQL.

mod contract;
mod failover;
mod failures;
mod health;
mod tls;
