//! The archive worker: one message, one entity, five requests.

use std::time::Duration;

use crate::client::{Client, Reply};
use crate::model::{Model as _, Outcome};
use crate::queues::{QueueOperation, QueueOutcome, QueueReply, QueueRequest, ReceivedMessage, send};
use crate::tables::{
    Address, Content, EntityChange, EntityOperation, IfMatch, TableModel, TableWrite, parse_point_read,
};

pub(super) const LIVE: &str = "Live";
pub(super) const ARCHIVE: &str = "Archive";
pub(super) const PARTITION: &str = "p";

/// Longer than a worker needs for an entity, and short enough to wait for after a kill.
pub(super) const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(1);

/// The requests of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    GetMessage,
    ReadEntity,
    InsertIntoArchive,
    DeleteFromLive,
    DeleteMessage,
}

/// The order of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepOrder {
    Safe,
    /// The planted fault: between two steps the entity is in no table.
    DeletesFirst,
}

impl Step {
    pub(super) fn in_order(order: StepOrder) -> [Step; 5] {
        use Step::{DeleteFromLive, DeleteMessage, GetMessage, InsertIntoArchive, ReadEntity};
        match order {
            StepOrder::Safe => [GetMessage, ReadEntity, InsertIntoArchive, DeleteFromLive, DeleteMessage],
            StepOrder::DeletesFirst => [GetMessage, ReadEntity, DeleteFromLive, InsertIntoArchive, DeleteMessage],
        }
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepOutcome {
    Done,
    /// There is no message.
    NothingToDo,
    NoResponse,
}

#[derive(Debug)]
pub(super) struct ArchiveWorker {
    client: Client,
    message: Option<ReceivedMessage>,
    /// The entity as read from the live table; `None` if it is not there any more.
    entity: Option<Content>,
}

impl ArchiveWorker {
    pub(super) fn new(client: Client) -> Self {
        Self { client, message: None, entity: None }
    }

    /// Continues with another connection.
    pub(super) fn reconnect(&mut self, client: Client) {
        self.client = client;
    }

    /// Performs one step. An earlier worker may have performed it before it was killed.
    pub(super) async fn perform(&mut self, step: Step) -> Result<StepOutcome, String> {
        match step {
            Step::GetMessage => self.get_message().await,
            Step::ReadEntity => self.read_entity().await,
            Step::InsertIntoArchive => match self.entity.clone() {
                Some(entity) => self.write(ARCHIVE, EntityChange::Insert(entity), 409).await,
                None => Ok(StepOutcome::Done),
            },
            Step::DeleteFromLive if self.entity.is_none() => Ok(StepOutcome::Done),
            Step::DeleteFromLive => self.write(LIVE, EntityChange::Delete(IfMatch::Any), 404).await,
            Step::DeleteMessage => self.delete_message().await,
        }
    }

    fn message(&self) -> Result<&ReceivedMessage, String> {
        self.message.as_ref().ok_or_else(|| "the worker has no message".to_owned())
    }

    fn address(&self, table: &str) -> Result<Address, String> {
        Ok(Address::new(table, PARTITION, self.message()?.text.clone()))
    }

    async fn get_message(&mut self) -> Result<StepOutcome, String> {
        let request = QueueRequest::new(QueueOperation::Get { invisible_for: VISIBILITY_TIMEOUT, received: vec![] });
        match send(&mut self.client, request).await? {
            QueueReply::Known(QueueOperation::Get { mut received, .. }, QueueOutcome::Done, _) => {
                self.message = received.pop();
                Ok(if self.message.is_some() { StepOutcome::Done } else { StepOutcome::NothingToDo })
            }
            QueueReply::ServerError(text) => Err(text),
            QueueReply::Known(..) | QueueReply::NotSent => Ok(StepOutcome::NoResponse),
        }
    }

    async fn read_entity(&mut self) -> Result<StepOutcome, String> {
        let address = self.address(LIVE)?;
        match self.client.get(&address.path(), &[]).await {
            Reply::Response(answer) => {
                self.entity = parse_point_read(&address, &answer)?.map(|version| version.content);
                Ok(StepOutcome::Done)
            }
            Reply::ServerError(status, text) => Err(format!("{status} {text}")),
            Reply::NoResponse | Reply::NotSent => Ok(StepOutcome::NoResponse),
        }
    }

    /// Sends a write. A rejection with `done_before` means that an earlier worker has done it.
    async fn write(&mut self, table: &str, change: EntityChange, done_before: u16) -> Result<StepOutcome, String> {
        let write = TableWrite::Entities(vec![EntityOperation { address: self.address(table)?, change }]);
        match TableModel::send(&mut self.client, &write).await? {
            Reply::Response(Outcome::Done(_)) => Ok(StepOutcome::Done),
            Reply::Response(Outcome::Rejected(status)) if status == done_before => Ok(StepOutcome::Done),
            Reply::NoResponse | Reply::NotSent => Ok(StepOutcome::NoResponse),
            other => Err(format!("{write}: {other:?}")),
        }
    }

    async fn delete_message(&mut self) -> Result<StepOutcome, String> {
        let ReceivedMessage { id, receipt, text, .. } = self.message()?.clone();
        let request = QueueRequest { id, ..QueueRequest::new(QueueOperation::Delete { mark: text, receipt }) };
        match send(&mut self.client, request).await? {
            // A rejection means that another worker has received the message, which will do the same.
            QueueReply::Known(_, QueueOutcome::Done | QueueOutcome::Rejected, _) => Ok(StepOutcome::Done),
            QueueReply::ServerError(text) => Err(text),
            QueueReply::Known(..) | QueueReply::NotSent => Ok(StepOutcome::NoResponse),
        }
    }
}
