//! A coordinator reports the failure of another node as the response to a statement. The connection to the coordinator is as
//! good as before.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use tablerock_kv::{Bytes, Commit, Engine as _, ErrorKind, Health};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;

/// A partition whose writes fail as if the node that has it were away.
const AWAY: &str = "CREATE FUNCTION errors.away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'connection to the remote node worker1:5432 failed' USING ERRCODE = '08006'; END $$;
  CREATE TRIGGER away BEFORE INSERT ON errors.tablerock_records
    FOR EACH ROW WHEN (NEW.partition = 'away') EXECUTE FUNCTION errors.away()";

const SESSIONS: &str = "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity \
     WHERE application_name = 'tablerock'";

fn put(partition: &'static str, keys: u32) -> Commit {
    let writes = (0..keys).map(|key| (Bytes::from(key.to_string()), Some(Bytes::from_static(b"value"))));
    Commit { partition: Bytes::from_static(partition.as_bytes()), expected: vec![], writes: writes.collect() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_failure_of_another_node_costs_no_connection() {
    let database = DatabaseServer::start();
    let target = Target::parse(&database.url("errors")).unwrap();
    let engine = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap();
    database.run(AWAY);
    futures_util::future::join_all((0..8).map(|_| engine.commit(put("here", 1)))).await;
    assert_eq!(engine.get(b"here", b"0").await.unwrap().as_deref(), Some(&b"value"[..]));
    // The connection of the health check is there from its first run on.
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    let before = database.run(SESSIONS);
    for round in 0..20 {
        let error = engine.commit(put("away", 1 + round % 2)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("worker1:5432"), "{error}");
        engine.commit(put("here", 2)).await.unwrap();
    }
    assert_eq!(database.run(SESSIONS), before, "all sessions are still the same");
    assert_eq!(engine.health(), Health::Healthy);
}
