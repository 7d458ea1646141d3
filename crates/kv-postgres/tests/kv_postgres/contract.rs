//! The engine keeps the contract of every engine, on a real PostgreSQL or on the database that the environment names.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tablerock_kv::Engine;
use tablerock_kv::suite::{Capabilities, Harness};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::test_database::TestDatabase;

static DATABASE: LazyLock<TestDatabase> = LazyLock::new(TestDatabase::find);

/// A schema of its own for each behaviour.
struct Postgres {
    url: String,
}

impl Postgres {
    fn new() -> Self {
        static SCHEMAS: AtomicU32 = AtomicU32::new(0);
        let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
        Self { url: DATABASE.url(&format!("contract_{number}")) }
    }

    async fn engine(&self) -> Arc<dyn Engine> {
        let options = PostgresOptions {
            connections_max: 16,
            sweep_delay: Duration::from_millis(20),
            sweep_pause: Duration::from_millis(20),
            ..PostgresOptions::default()
        };
        let target = Target::parse(&self.url).expect("the URL is good");
        PostgresEngine::open(target, options).await.expect("the database serves")
    }
}

#[async_trait::async_trait]
impl Harness for Postgres {
    fn capabilities(&self) -> Capabilities {
        Capabilities { survives_reopening: true, ..Capabilities::default() }
    }

    async fn open(&mut self) -> Arc<dyn Engine> {
        self.engine().await
    }

    async fn reopen(&mut self, closed: Arc<dyn Engine>) -> Arc<dyn Engine> {
        drop(closed);
        self.engine().await
    }
}

tablerock_kv::engine_suite!(Postgres::new());
