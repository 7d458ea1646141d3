//! Options of an engine and their defaults.

use std::time::Duration;

/// Limits and timeouts of an engine. The defaults suit a server; tests use shorter timeouts.
#[derive(Debug, Clone, Copy)]
pub struct PostgresOptions {
    /// The maximum number of connections, two or more, with those that reads share and one for the health check.
    pub connections_max: usize,
    /// Whether missing tables are created. Otherwise a database without them is an error and is not changed.
    pub create_if_missing: bool,
    /// The timeout for a free connection, and again for opening a new one.
    pub connection_wait: Duration,
    /// The timeout of one statement. Together with both waits for a connection it is shorter than that of a request.
    pub statement_wait: Duration,
    /// The time that opening waits for a database that is not up yet.
    pub opening_wait: Duration,
    /// The delay between dropping and sweeping a range: longer than any request that may still write to it.
    pub sweep_delay: Duration,
    /// The delay between dropping a range over partitions and sweeping it again, for rows that landed after the first sweep.
    pub second_sweep_delay: Duration,
    /// The interval between two searches for dropped ranges to sweep, including those of other servers.
    pub sweep_pause: Duration,
    /// The interval between two health checks.
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
            second_sweep_delay: Duration::from_secs(24 * 3600),
            sweep_pause: Duration::from_secs(10),
            health_pause: Duration::from_secs(1),
        }
    }
}
