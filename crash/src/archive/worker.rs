//! The archive worker: one message, one entity, five requests.

use std::time::Duration;

use crate::client::{Client, Reply, Verdict};
use crate::content::{Address, Content};
use crate::messages::{Deed, Fulfilment, Given, Outcome, Wish, ask};
use crate::observed::point_version;
use crate::operation::{Attempt, Change, Match, Operation};

pub(super) const LIVE: &str = "Live";
pub(super) const ARCHIVE: &str = "Archive";
pub(super) const PARTITION: &str = "p";

/// Longer than a worker needs for an entity, and short enough to wait for when one has died.
pub(super) const HIDDEN: Duration = Duration::from_secs(1);

/// The requests of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    GetMessage,
    ReadEntity,
    InsertIntoArchive,
    DeleteFromLive,
    DeleteMessage,
}

/// In which order they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Safe,
    /// What nobody should do: between two of its steps the entity is nowhere.
    DeletesFirst,
}

impl Step {
    pub(super) fn in_order(order: Order) -> [Step; 5] {
        use Step::{DeleteFromLive, DeleteMessage, GetMessage, InsertIntoArchive, ReadEntity};
        match order {
            Order::Safe => [GetMessage, ReadEntity, InsertIntoArchive, DeleteFromLive, DeleteMessage],
            Order::DeletesFirst => [GetMessage, ReadEntity, DeleteFromLive, InsertIntoArchive, DeleteMessage],
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    /// There is no message.
    NothingToDo,
    NoAnswer,
}

#[derive(Debug)]
pub(super) struct Archivist {
    client: Client,
    message: Option<Given>,
    /// As it was read where it is live; none if it is not there any more.
    entity: Option<Content>,
}

impl Archivist {
    pub(super) fn new(client: Client) -> Self {
        Self { client, message: None, entity: None }
    }

    /// Goes on with another connection.
    pub(super) fn reconnect(&mut self, client: Client) {
        self.client = client;
    }

    /// Does one step. All of them may have been done before, by somebody who died then.
    pub(super) async fn perform(&mut self, step: Step) -> Result<Ending, String> {
        match step {
            Step::GetMessage => self.get_message().await,
            Step::ReadEntity => self.read_entity().await,
            Step::InsertIntoArchive => match self.entity.clone() {
                Some(entity) => self.write(ARCHIVE, Change::Insert(entity), 409).await,
                None => Ok(Ending::Done),
            },
            Step::DeleteFromLive if self.entity.is_none() => Ok(Ending::Done),
            Step::DeleteFromLive => self.write(LIVE, Change::Delete(Match::Any), 404).await,
            Step::DeleteMessage => self.delete_message().await,
        }
    }

    fn message(&self) -> Result<&Given, String> {
        self.message.as_ref().ok_or_else(|| "no message was got".to_owned())
    }

    fn address(&self, table: &str) -> Result<Address, String> {
        Ok(Address::new(table, PARTITION, self.message()?.text.clone()))
    }

    async fn get_message(&mut self) -> Result<Ending, String> {
        let wish = Wish::new(Deed::Get { hidden: HIDDEN, given: vec![] });
        match ask(&mut self.client, wish).await? {
            Fulfilment::Known(Deed::Get { mut given, .. }, Outcome::Done, _) => {
                self.message = given.pop();
                Ok(if self.message.is_some() { Ending::Done } else { Ending::NothingToDo })
            }
            Fulfilment::Failed(text) => Err(text),
            Fulfilment::Known(..) | Fulfilment::NotSent => Ok(Ending::NoAnswer),
        }
    }

    async fn read_entity(&mut self) -> Result<Ending, String> {
        let address = self.address(LIVE)?;
        match self.client.get(&address.path(), &[]).await {
            Reply::Answered(answer) => {
                self.entity = point_version(&address, &answer)?.map(|version| version.content);
                Ok(Ending::Done)
            }
            Reply::Failed(status, text) => Err(format!("{status} {text}")),
            Reply::Lost | Reply::NotSent => Ok(Ending::NoAnswer),
        }
    }

    /// Writes, where one refusal tells that it was done before.
    async fn write(&mut self, table: &str, change: Change, done_before: u16) -> Result<Ending, String> {
        let attempt = Attempt::Entities(vec![Operation { address: self.address(table)?, change }]);
        match self.client.attempt(&attempt).await? {
            Reply::Answered(Verdict::Done(_)) => Ok(Ending::Done),
            Reply::Answered(Verdict::Refused(status)) if status == done_before => Ok(Ending::Done),
            Reply::Lost | Reply::NotSent => Ok(Ending::NoAnswer),
            other => Err(format!("{attempt}: {other:?}")),
        }
    }

    async fn delete_message(&mut self) -> Result<Ending, String> {
        let Given { id, receipt, text, .. } = self.message()?.clone();
        let wish = Wish { id, ..Wish::new(Deed::Delete { mark: text, receipt }) };
        match ask(&mut self.client, wish).await? {
            // A refusal tells that somebody else has got it meanwhile, who will do the same.
            Fulfilment::Known(_, Outcome::Done | Outcome::Refused, _) => Ok(Ending::Done),
            Fulfilment::Failed(text) => Err(text),
            Fulfilment::Known(..) | Fulfilment::NotSent => Ok(Ending::NoAnswer),
        }
    }
}
