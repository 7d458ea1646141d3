//! Bytes that are not a proper request, and the check that the server outlives them.

use std::time::Duration;

use crate::expect::{Failure, Outcome};
use crate::http::{Answer, Connection};
use crate::session::Session;

const PATIENCE: Duration = Duration::from_secs(8);

/// Sends bytes and ends the sending side. Returns the response, or nothing if the server just closed.
pub async fn send_and_close(at: &Session, bytes: &[u8]) -> Outcome<Option<Answer>> {
    let mut connection = Connection::open(&at.target().primary).await?;
    // A server may well close before it has taken everything: that is a valid outcome too.
    let _ = connection.write(bytes).await;
    let _ = connection.finish_writing().await;
    answer_within_patience(&mut connection).await
}

/// Sends bytes and keeps the connection open for the response.
pub async fn send(at: &Session, bytes: &[u8]) -> Outcome<Option<Answer>> {
    let mut connection = Connection::open(&at.target().primary).await?;
    match tokio::time::timeout(PATIENCE, connection.exchange(bytes)).await {
        Ok(answer) => Ok(answer.ok()),
        Err(_) => Err(Failure::new("neither a response nor a closed connection")),
    }
}

async fn answer_within_patience(connection: &mut Connection) -> Outcome<Option<Answer>> {
    match tokio::time::timeout(PATIENCE, connection.read()).await {
        Ok(answer) => Ok(answer.ok()),
        Err(_) => Err(Failure::new("neither a response nor a closed connection")),
    }
}

/// Fails if the response to the bytes is a success.
pub fn expect_refused_or_closed(answer: Option<&Answer>) -> Outcome {
    match answer {
        Some(answer) if answer.status < 400 => {
            Err(Failure::new(format!("expected an error or a closed connection, got {}", answer.status)))
        }
        _ => Ok(()),
    }
}

/// Fails unless the server responds to an ordinary request.
pub async fn expect_still_serving(at: &Session) -> Outcome {
    at.get("/Tables").query("$top", "1").send().await?.expect(200)?;
    Ok(())
}
