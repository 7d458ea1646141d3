//! The expected state of all services, at one time or at every time of a recording.

use crate::blobs::BlobModel;
use crate::client::Client;
use crate::history::History;
use crate::model::{Model, resolve_all};
use crate::queues::{MessageHandle, QueueHistory};
use crate::tables::TableModel;

/// The expected state at one time.
#[derive(Debug, Clone, Default)]
pub struct ExpectedState {
    pub tables: Vec<TableModel>,
    pub queues: QueueHistory,
    pub blobs: Vec<BlobModel>,
}

/// The histories of all workers.
#[derive(Debug, Default)]
pub struct Histories {
    pub tables: Vec<History<TableModel>>,
    pub queues: QueueHistory,
    pub blobs: Vec<History<BlobModel>>,
}

impl Histories {
    /// The expected state at a logical time.
    pub fn state_at(&self, time: u64) -> Result<ExpectedState, String> {
        Ok(ExpectedState {
            tables: models_at(&self.tables, time)?,
            queues: self.queues.at(time),
            blobs: models_at(&self.blobs, time)?,
        })
    }
}

/// The models of all histories at a logical time.
pub fn models_at<M: Model>(histories: &[History<M>], time: u64) -> Result<Vec<M>, String> {
    histories.iter().map(|history| history.model_at(time)).collect()
}

impl ExpectedState {
    /// Compares the expected state with the server's and resolves unknown outcomes. Returns the messages in the queue, which
    /// are invisible for a while afterwards, and the violations.
    pub async fn resolve(&mut self, client: &mut Client) -> Result<(Vec<MessageHandle>, Vec<String>), String> {
        let mut violations = resolve_with(&mut self.tables, client).await?;
        violations.extend(resolve_with(&mut self.blobs, client).await?);
        let (received, wrong) = self.queues.drain(client).await?;
        violations.extend(wrong);
        Ok((received, violations))
    }
}

async fn resolve_with<M: Model>(models: &mut [M], client: &mut Client) -> Result<Vec<String>, String> {
    let observed = M::observe(client).await?;
    Ok(resolve_all(&mut models.iter_mut().collect::<Vec<_>>(), &observed).1)
}
