//! The engine for many machines, on a real PostgreSQL.

mod contract;
mod errors_of_other_nodes;
mod failover;
mod failures;
mod health;
mod names_model;
mod rolling_upgrade;
mod several_hosts;
mod tls;
mod version_1_certificate;
mod witnesses;
