//! The look at the database now and then: how it is, so that the health endpoint does not tell how it was when somebody
//! last asked for something, and what its clock shows.

use std::sync::Arc;

use tablerock_kv::{ErrorKind, Health, Result};
use tokio::time::timeout;

use crate::DatabaseClock;
use crate::pool::Pool;

/// `on` where writes are refused: on a standby, or where the operator said so.
const IS_READ_ONLY: &str = "SHOW transaction_read_only";

pub(crate) async fn keep_looking(pool: Arc<Pool>, clock: Arc<DatabaseClock>) {
    loop {
        tokio::time::sleep(pool.options.health_pause).await;
        match look(&pool, &clock).await {
            Ok(health) => pool.note(health),
            Err(error) if error.kind() == ErrorKind::Internal => {
                tracing::warn!(%error, "cannot ask the database how it is")
            }
            Err(error) => pool.note(Health::Down(error.message().to_owned())),
        }
    }
}

async fn look(pool: &Arc<Pool>, clock: &DatabaseClock) -> Result<Health> {
    let mut lease = pool.lease().await?;
    let answer = timeout(lease.patience(), lease.connection().client.simple_query(IS_READ_ONLY)).await;
    let answer = lease.judge("the database does not answer", answer.ok())?;
    let told = timeout(lease.patience(), clock.refresh(&lease.connection().client)).await;
    lease.judge("the database does not tell the time", told.ok())?;
    let is_read_only = answer.iter().any(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    });
    if is_read_only {
        return Ok(Health::ReadOnly("the database takes no writes: it is a standby, or was set so".to_owned()));
    }
    Ok(Health::Healthy)
}
