//! Changes of directories are visible on every node before they are acknowledged.
//!
//! Citus commits a change of a table with copies on all nodes in two phases, and reports success even if the second phase
//! failed on a node. Until Citus repairs that, minutes later, the node shows the state of before. So each change of a
//! directory also changes a *mark*, in the same transaction, and once it is committed the mark is changed again: on a node
//! where the first change is still open, the second one waits for it. If it does not get through, the outcome is unknown and
//! the caller gets an error.

use tablerock_kv::Result;
use tokio::time::timeout;

use crate::connection::Connection;
use crate::digest;
use crate::pool::PooledConnection;

/// Directories share the marks by a hash, so that changes of different accounts rarely wait for each other.
pub(crate) const MARKS: i32 = 64;

/// Changes the mark of a directory.
pub(crate) async fn mark(connection: &Connection, partition: &[u8]) -> Result<u64, tokio_postgres::Error> {
    match &connection.statements.mark {
        Some(statement) => connection.client.execute(statement, &[&mark_of(partition)]).await,
        None => Ok(0),
    }
}

/// Waits until the last change of a directory is visible on all nodes.
pub(crate) async fn confirm(pooled: &mut PooledConnection, partition: &[u8]) -> Result<()> {
    pooled.begin_statement();
    let marked = timeout(pooled.response_timeout(), mark(pooled.connection(), partition)).await;
    pooled.judge("a change was committed, but it is not visible on all nodes yet", marked.ok()).map(drop)
}

/// Waits until all earlier changes of directories are visible on all nodes.
pub(crate) async fn confirm_all(pooled: &mut PooledConnection) -> Result<()> {
    pooled.begin_statement();
    let all = async {
        for mark in 0..MARKS {
            let Connection { client, statements, .. } = pooled.connection();
            if let Some(statement) = &statements.mark {
                client.execute(statement, &[&mark]).await?;
            }
        }
        Ok(())
    };
    let marked = timeout(pooled.response_timeout(), all).await;
    pooled.judge("the last changes of directories are not visible on all nodes yet", marked.ok())
}

fn mark_of(partition: &[u8]) -> i32 {
    i32::from(digest::of(partition)[0]) % MARKS
}
