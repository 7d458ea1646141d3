//! Copies queues over HTTP: names, metadata and stored access policies. Reading a message changes it, so messages are only
//! counted.

use tablerock_client::queue::QueueItem;
use tablerock_client::{QueueServiceClient, TryStreamExt as _};

use super::copy_error::CopyError;
use super::counts::{Counts, Skipped};
use super::resume_file::CopyItem;
use super::wire::Transfer;

impl Transfer<'_> {
    pub(super) async fn copy_queues(&mut self) {
        let (from, to) = match (&self.from.queues, &self.to.queues) {
            (Ok(from), Ok(to)) => (from.clone(), to.clone()),
            (Err(message), _) | (_, Err(message)) => return self.report.note(format!("queues: {message}")),
        };
        let mut queues = from.list_queues().stream();
        loop {
            match queues.try_next().await {
                Ok(Some(queue)) => {
                    let copied = self.copy_queue(&from, &to, &queue).await;
                    self.report.outcome(&format!("queue {}", queue.name), copied);
                }
                Ok(None) => return,
                Err(error) => return self.report.fail("queues", &CopyError::of_call("cannot be listed", &error)),
            }
        }
    }

    async fn copy_queue(
        &mut self,
        from: &QueueServiceClient,
        to: &QueueServiceClient,
        listed: &QueueItem,
    ) -> Result<(), CopyError> {
        let item = CopyItem::Queue(listed.name.clone());
        if self.resume_file.status(&item).is_done {
            return Ok(());
        }
        let (from, to) = (from.queue(&listed.name), to.queue(&listed.name));
        let read = |error| CopyError::of_call("cannot be read", &error);
        let written = |error| CopyError::of_call("cannot be written", &error);
        to.create_if_not_exists().await.map_err(written)?;
        to.set_metadata(&listed.metadata).await.map_err(written)?;
        if self.with_policies {
            to.set_access_policies(&from.get_access_policies().await.map_err(read)?).await.map_err(written)?;
        }
        let messages = from.approximate_message_count().await.map_err(read)?;
        let skipped = Skipped { messages, ..Skipped::default() };
        self.resume_file.done(&item, Counts { skipped, ..Counts::default() })?;
        self.print_progress();
        Ok(())
    }
}
