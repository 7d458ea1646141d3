//! What an engine can be told beside its database.

use std::time::Duration;

/// Bounds of an engine. The defaults are for serving; tests want shorter waits.
#[derive(Debug, Clone, Copy)]
pub struct PostgresOptions {
    /// Connections that this engine opens at most, two or more: those that reads share are among them, and one on which
    /// it looks at the database's health.
    pub connections_max: usize,
    /// Whether a database without our tables gets them. Otherwise it is taken for the wrong one, and left as it is.
    pub create_if_missing: bool,
    /// How long a request waits for one of them, and as long again for a new one to be made.
    pub connection_wait: Duration,
    /// How long the database may take for one statement. Together with both waits it is less than a request has.
    pub statement_wait: Duration,
    /// How long opening waits for a database that does not answer yet.
    pub opening_wait: Duration,
    /// How long a dropped range rests before it is swept: longer than any request that may still write there.
    pub sweep_delay: Duration,
    /// How often the engine looks for dropped ranges to sweep, those of other servers among them.
    pub sweep_pause: Duration,
    /// How often the engine looks at the database's health.
    pub health_pause: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            connections_max: 32,
            create_if_missing: true,
            connection_wait: Duration::from_secs(5),
            statement_wait: Duration::from_secs(15),
            opening_wait: Duration::from_secs(30),
            sweep_delay: Duration::from_secs(60),
            sweep_pause: Duration::from_secs(10),
            health_pause: Duration::from_secs(1),
        }
    }
}
