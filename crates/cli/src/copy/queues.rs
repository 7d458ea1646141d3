//! Queues over the wire: names, metadata and stored access policies. To read a message is to change it, so messages stay, and
//! are counted.

use tablerock_client::queue::QueueItem;
use tablerock_client::{QueueServiceClient, TryStreamExt as _};

use super::failure::Failure;
use super::ledger::Holding;
use super::tally::{Left, Tally};
use super::wire::Transfer;

impl Transfer<'_> {
    pub(super) async fn copy_queues(&mut self) {
        let (from, to) = match (&self.from.queues, &self.to.queues) {
            (Ok(from), Ok(to)) => (from.clone(), to.clone()),
            (Err(why), _) | (_, Err(why)) => return self.report.note(format!("queues: {why}")),
        };
        let mut queues = from.list_queues().stream();
        loop {
            match queues.try_next().await {
                Ok(Some(queue)) => {
                    let copied = self.copy_queue(&from, &to, &queue).await;
                    self.report.outcome(&format!("queue {}", queue.name), copied);
                }
                Ok(None) => return,
                Err(error) => return self.report.fail("queues", &Failure::of_call("cannot be listed", &error)),
            }
        }
    }

    async fn copy_queue(
        &mut self,
        from: &QueueServiceClient,
        to: &QueueServiceClient,
        listed: &QueueItem,
    ) -> Result<(), Failure> {
        let holding = Holding::Queue(listed.name.clone());
        if self.ledger.status(&holding).is_done {
            return Ok(());
        }
        let (from, to) = (from.queue(&listed.name), to.queue(&listed.name));
        let read = |error| Failure::of_call("cannot be read", &error);
        let written = |error| Failure::of_call("cannot be written", &error);
        to.create_if_not_exists().await.map_err(written)?;
        to.set_metadata(&listed.metadata).await.map_err(written)?;
        if self.with_policies {
            to.set_access_policies(&from.get_access_policies().await.map_err(read)?).await.map_err(written)?;
        }
        let messages = from.approximate_message_count().await.map_err(read)?;
        let left = Left { messages, ..Left::default() };
        self.ledger.done(&holding, Tally { left, ..Tally::default() })?;
        self.tell();
        Ok(())
    }
}
