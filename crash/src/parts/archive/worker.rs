//! The archive worker: one message, one entity, five requests.

use std::fmt::Debug;
use std::time::Duration;

use crate::client::{Client, Reply};
use crate::model::{Model as _, Outcome};
use crate::queues::{QueueOperation, ReceivedMessage, send};
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
        match send(&mut self.client, QueueOperation::get(1, VISIBILITY_TIMEOUT)).await? {
            Reply::Response((QueueOperation::Get { mut received, .. }, _)) => {
                self.message = received.pop();
                Ok(if self.message.is_some() { StepOutcome::Done } else { StepOutcome::NothingToDo })
            }
            reply => no_response(reply),
        }
    }

    async fn read_entity(&mut self) -> Result<StepOutcome, String> {
        let address = self.address(LIVE)?;
        match self.client.get(&address.path(), &[]).await {
            Reply::Response(answer) => {
                self.entity = parse_point_read(&address, &answer)?.map(|version| version.content);
                Ok(StepOutcome::Done)
            }
            reply => no_response(reply),
        }
    }

    /// Sends a write. A rejection with `done_before` means that an earlier worker has done it.
    async fn write(&mut self, table: &str, change: EntityChange, done_before: u16) -> Result<StepOutcome, String> {
        let write = TableWrite::Entities(vec![EntityOperation { address: self.address(table)?, change }]);
        match TableModel::send(&mut self.client, &write).await? {
            Reply::Response(Outcome::Done(_)) => Ok(StepOutcome::Done),
            Reply::Response(Outcome::Rejected(status)) if status == done_before => Ok(StepOutcome::Done),
            reply => no_response(reply).map_err(|why| format!("{write}: {why}")),
        }
    }

    async fn delete_message(&mut self) -> Result<StepOutcome, String> {
        let delete = QueueOperation::Delete(self.message()?.handle());
        match send(&mut self.client, delete).await? {
            // A rejection means that another worker has received the message, which will do the same.
            Reply::Response(_) => Ok(StepOutcome::Done),
            reply => no_response(reply),
        }
    }
}

/// The outcome of a step without a usable response. A 5xx or an unexpected response is an error.
fn no_response<T: Debug>(reply: Reply<T>) -> Result<StepOutcome, String> {
    match reply {
        Reply::NoResponse | Reply::NotSent => Ok(StepOutcome::NoResponse),
        other => Err(format!("{other:?}")),
    }
}
