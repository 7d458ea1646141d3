//! Intents: queue messages that record a multi-step change before it begins, so that a worker can finish it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tablerock_client::{Error, QueueClient, QueueMessage, Result};

use crate::optimistic::{is_conflict, unless_conflict};
use crate::worker::{WorkCounts, Worker};

/// The default visibility timeout. A call of the client takes at most 90 seconds, and the service processes a request
/// for at most 30: all requests of a writer have ended when a worker claims its intent.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(180);
/// How long a message of the poison queue is invisible while it is moved back.
const REDRIVE_TIMEOUT: Duration = Duration::from_secs(120);
/// The default number of attempts before an intent is poison.
const ATTEMPTS_MAX: u32 = 5;

/// Intents in a queue, which a worker resumes three minutes after a writer died, by default.
///
/// A writer calls [`begin`](Self::begin) before a change and [`finish`](Self::finish) after it. If it does not finish
/// in time, a [worker](Self::worker) claims the intent and finishes the change.
///
/// The steps of a change have to be idempotent: the writer may be slow and not dead. A worker first gives the entity a
/// new version, so that a conditional write of the slow writer fails.
///
/// An intent that fails repeatedly is moved to the poison queue, and does not block the others. After its cause is
/// mended, [`redrive_poison`](Self::redrive_poison) returns it to the queue.
///
/// ```no_run
/// # use serde::{Deserialize, Serialize};
/// # use tablerock_client::{QueueServiceClient, Result};
/// # use tablerock_patterns::Intents;
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Transfer {
///     id: String,
/// }
///
/// # async fn transfer(transfer: &Transfer) -> Result<()> { Ok(()) }
/// # async fn example(queues: QueueServiceClient, shutdown: impl Future<Output = ()>) -> Result<()> {
/// let intents = Intents::new(queues.queue("transfers"), queues.queue("transfers-poison"));
/// let pending = intents.begin(Transfer { id: "17".into() }).await?;
/// transfer(&pending.intent).await?;
/// intents.finish(pending).await?;
///
/// // In a worker:
/// intents.run(|intent| async move { transfer(&intent).await }, shutdown).await;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Intents<T> {
    queue: QueueClient,
    poison: QueueClient,
    visibility_timeout: Duration,
    max_attempts: u32,
    intent: PhantomData<fn() -> T>,
}

/// An intent that is stored and not finished.
#[derive(Debug, Clone)]
pub struct PendingIntent<T> {
    /// The change.
    pub intent: T,
    message: QueueMessage,
}

impl<T> PendingIntent<T> {
    /// Returns the id of the message, which is the same for the writer and for workers. An intent that is returned from
    /// the poison queue has another one.
    pub fn id(&self) -> &str {
        &self.message.id
    }
}

/// The result of [`Intents::claim`].
#[derive(Debug)]
pub enum Claimed<T> {
    /// The queue has no visible intent.
    Nothing,
    /// An intent, which is invisible to other workers for the visibility timeout.
    Intent(PendingIntent<T>),
    /// An intent failed too often or is invalid, and was moved to the poison queue.
    Poisoned,
}

/// The result of a worker's attempt.
#[derive(Debug)]
pub enum WorkOutcome {
    /// The queue has no visible intent.
    Nothing,
    /// An intent was finished.
    Finished,
    /// An intent failed and will be retried.
    Failed(Error),
    /// An intent failed too often or is invalid, and was moved to the poison queue.
    Poisoned,
}

impl<T> Intents<T> {
    /// Changes the settings, for types with a private intent type.
    pub(crate) fn map_settings(self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        fn of<A, B>(intents: Intents<A>) -> Intents<B> {
            let Intents { queue, poison, visibility_timeout, max_attempts, .. } = intents;
            Intents { queue, poison, visibility_timeout, max_attempts, intent: PhantomData }
        }
        of(change(of(self)))
    }
}

impl<T: Serialize + DeserializeOwned> Intents<T> {
    /// Returns intents in a queue, and failed ones in a poison queue.
    pub fn new(queue: QueueClient, poison: QueueClient) -> Self {
        Self { queue, poison, visibility_timeout: VISIBILITY_TIMEOUT, max_attempts: ATTEMPTS_MAX, intent: PhantomData }
    }

    /// Sets the time after which a worker may resume an intent; three minutes by default. It has to be longer than the
    /// [`timeout`](tablerock_client::ClientOptions::timeout) of a call.
    #[must_use]
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.visibility_timeout = timeout;
        self
    }

    /// Sets the number of attempts before an intent is poison; 5 by default.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Creates both queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.queue.create_if_not_exists().await?;
        self.poison.create_if_not_exists().await.map(drop)
    }

    /// Returns the queue of failed intents.
    #[doc(alias = "dead_letter")]
    pub fn poison_queue(&self) -> &QueueClient {
        &self.poison
    }

    /// Moves failed intents back to the queue, where they have all their attempts again, and returns their number.
    /// Intents that fail in the meantime are not moved. An intent may be processed twice if a move is interrupted.
    #[doc(alias = "dead_letter")]
    #[doc(alias = "requeue")]
    pub async fn redrive_poison(&self) -> Result<u64> {
        let failed = self.poison.approximate_message_count().await?;
        let mut moved = 0;
        while moved < failed {
            let message = self.poison.receive_message().visibility_timeout(REDRIVE_TIMEOUT).await?;
            let Some(message) = message else { break };
            // Sent before it is deleted, so that no failure in between loses it.
            self.queue.send_message(&message.text).never_expires().await?;
            unless_conflict(self.poison.delete_message(&message).await)?;
            moved += 1;
        }
        Ok(moved)
    }

    /// Returns a worker that performs claimed intents by a function, which has to be idempotent.
    pub fn worker<'a, F, R>(&'a self, perform: F) -> Worker<'a>
    where
        T: Clone + Send + Sync,
        F: Fn(T) -> R + Send + Sync + 'a,
        R: Future<Output = Result<()>> + Send,
    {
        let perform = Arc::new(perform);
        Worker::new(self.queue.name(), move || {
            let perform = Arc::clone(&perform);
            Box::pin(async move { self.work_once(|intent| perform(intent)).await })
        })
    }

    /// Runs a [worker](Self::worker) until `shutdown` completes.
    pub async fn run<F, R>(&self, perform: F, shutdown: impl Future<Output = ()>) -> WorkCounts
    where
        T: Clone + Send + Sync,
        F: Fn(T) -> R + Send + Sync,
        R: Future<Output = Result<()>> + Send,
    {
        self.worker(perform).run(shutdown).await
    }

    /// Claims one intent and performs it by a function, which has to be idempotent. A [worker](Self::worker) does this
    /// in a loop.
    pub async fn work_once<F, R>(&self, perform: F) -> Result<WorkOutcome>
    where
        T: Clone + Send + Sync,
        F: FnOnce(T) -> R + Send,
        R: Future<Output = Result<()>> + Send,
    {
        let pending = match self.claim().await? {
            Claimed::Intent(pending) => pending,
            Claimed::Nothing => return Ok(WorkOutcome::Nothing),
            Claimed::Poisoned => return Ok(WorkOutcome::Poisoned),
        };
        let outcome = perform(pending.intent.clone()).await;
        self.complete(pending, outcome).await
    }

    /// Stores an intent. Workers can claim it after the visibility timeout, unless it is finished.
    pub async fn begin(&self, intent: T) -> Result<PendingIntent<T>> {
        let message = self.queue.send_message(render(&intent)?).visibility_timeout(self.visibility_timeout);
        let message = message.never_expires().await?;
        Ok(PendingIntent { intent, message })
    }

    /// Stores an intent that workers can claim at once.
    pub async fn enqueue(&self, intent: &T) -> Result<()> {
        self.queue.send_message(render(intent)?).never_expires().await.map(drop)
    }

    /// Restarts the visibility timeout of an intent. Fails with 404 if a worker has claimed it: the writer then has to
    /// stop.
    pub async fn renew(&self, pending: PendingIntent<T>) -> Result<PendingIntent<T>> {
        let message = self.queue.update_message(&pending.message, self.visibility_timeout).await?;
        Ok(PendingIntent { message, ..pending })
    }

    /// Deletes an intent whose change is complete.
    pub async fn finish(&self, pending: PendingIntent<T>) -> Result<()> {
        self.delete(&pending.message).await
    }

    /// Performs the rest of a change, and deletes its intent.
    pub(crate) async fn finish_after<R>(&self, pending: PendingIntent<T>, perform: impl FnOnce(T) -> R) -> Result<()>
    where
        T: Clone,
        R: Future<Output = Result<()>>,
    {
        perform(pending.intent.clone()).await?;
        self.finish(pending).await
    }

    /// Performs the rest of a change after a write that succeeded or met another version. After any other error, or if
    /// the rest fails, a worker does.
    pub(crate) async fn settle<W, R>(
        &self,
        pending: PendingIntent<T>,
        written: Result<W>,
        perform: impl FnOnce(T) -> R,
    ) -> Result<W>
    where
        T: Clone,
        R: Future<Output = Result<()>>,
    {
        if written.as_ref().err().is_none_or(is_conflict)
            && let Err(error) = self.finish_after(pending, perform).await
        {
            let queue = self.queue.name();
            tracing::warn!(queue, %error, "a change was not completed; a worker will complete it");
        }
        written
    }

    /// Claims a visible intent. A worker performs its change and calls [`complete`](Self::complete), in a loop.
    pub async fn claim(&self) -> Result<Claimed<T>> {
        let Some(message) = self.queue.receive_message().visibility_timeout(self.visibility_timeout).await? else {
            return Ok(Claimed::Nothing);
        };
        let intent = serde_json::from_str(&message.text).ok();
        let Some(intent) = intent.filter(|_| message.dequeue_count <= self.max_attempts) else {
            // Sent before it is deleted: a worker that dies in between duplicates the intent and does not lose it.
            self.poison.send_message(&message.text).never_expires().await?;
            self.delete(&message).await?;
            return Ok(Claimed::Poisoned);
        };
        Ok(Claimed::Intent(PendingIntent { intent, message }))
    }

    /// Finishes an intent if its change succeeded. A failed one is visible again after the visibility timeout.
    pub async fn complete(&self, pending: PendingIntent<T>, outcome: Result<()>) -> Result<WorkOutcome> {
        match outcome {
            Ok(()) => self.finish(pending).await.map(|()| WorkOutcome::Finished),
            Err(error) => Ok(WorkOutcome::Failed(error)),
        }
    }

    /// Deletes a message, unless another worker has received or deleted it.
    async fn delete(&self, message: &QueueMessage) -> Result<()> {
        unless_conflict(self.queue.delete_message(message).await).map(drop)
    }
}

fn render<T: Serialize>(intent: &T) -> Result<String> {
    serde_json::to_string(intent).map_err(|error| Error::Invalid(format!("the intent cannot be serialized: {error}")))
}

impl<T> fmt::Debug for Intents<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, poison, visibility_timeout, max_attempts, .. } = self;
        let mut shown = f.debug_struct("Intents");
        shown.field("queue", &queue.name()).field("poison", &poison.name());
        shown.field("visibility_timeout", visibility_timeout);
        shown.field("max_attempts", max_attempts).finish()
    }
}
