//! What has to happen in several places, and is therefore written down first: a queue message that says what is to be
//! done, so that whoever dies half-way leaves a note for the next.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tablerock_client::{Error, Message, QueueClient, Result};

use crate::optimistic::unless_lost;

/// How long whoever is at an intent has it for itself. A call of the client takes a minute and a half at most, and the
/// service works on a request for half a minute: whatever was sent before a worker takes over has then arrived.
const INVISIBLE: Duration = Duration::from_secs(180);
/// How often an intent is tried before it is poison.
const TRIES_MAX: u32 = 5;

/// Intents in a queue. One is [`begun`](Self::begin) before anything is done, and [`finished`](Self::finish) when all of
/// it is. What is not finished in time is [`taken up`](Self::take) by any worker, possibly while the first one is
/// still at it: what an intent does has to come out the same however often it is done. A writer that stood still for so
/// long must not get its write in behind the worker's back, so a worker first gives the entity a version that the writer
/// has not seen.
///
/// One that fails again and again goes to the poison queue, where somebody looks at it; it does not hold up the others.
#[derive(Clone)]
pub struct Intents<T> {
    queue: QueueClient,
    poison: QueueClient,
    invisible: Duration,
    tries_max: u32,
    intent: PhantomData<fn() -> T>,
}

/// An intent that has been written down.
#[derive(Debug, Clone)]
pub struct Begun<T> {
    /// What is to be done.
    pub intent: T,
    message: Message,
}

impl<T> Begun<T> {
    /// A name that no other intent has, whoever carries it out.
    pub fn id(&self) -> &str {
        &self.message.id
    }
}

/// What a worker has found.
#[derive(Debug)]
pub enum Taken<T> {
    /// Nothing to do.
    Nothing,
    /// An intent that is this worker's for a while.
    Intent(Begun<T>),
    /// One that has failed too often, or cannot be read, and is now in the poison queue.
    Poison,
}

/// What has become of it.
#[derive(Debug)]
pub enum Resumed {
    /// Nothing to do.
    Nothing,
    /// An intent was carried out to its end.
    Finished,
    /// It failed and will come back.
    Failed(Error),
    /// It has failed too often before, or cannot be read, and is now in the poison queue.
    Poisoned,
}

impl<T> Intents<T> {
    /// The same with other settings, for pieces that keep the kind of their intents to themselves.
    pub(crate) fn map_settings(self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
        fn of<A, B>(intents: Intents<A>) -> Intents<B> {
            let Intents { queue, poison, invisible, tries_max, .. } = intents;
            Intents { queue, poison, invisible, tries_max, intent: PhantomData }
        }
        of(change(of(self)))
    }
}

impl<T: Serialize + DeserializeOwned> Intents<T> {
    /// Intents in a queue, and where the hopeless ones go.
    pub fn new(queue: QueueClient, poison: QueueClient) -> Self {
        Self { queue, poison, invisible: INVISIBLE, tries_max: TRIES_MAX, intent: PhantomData }
    }

    /// How long whoever is at an intent has it for itself before another may resume it; three minutes, unless it is said.
    /// It should be longer than a call of the client may take with all its tries: see
    /// [`time_max`](tablerock_client::ClientOptions::time_max).
    #[must_use]
    pub fn invisible_for(mut self, time: Duration) -> Self {
        self.invisible = time;
        self
    }

    /// How often an intent is tried before it is poison; five times, unless it is said.
    #[must_use]
    pub fn tries_max(mut self, tries: u32) -> Self {
        self.tries_max = tries;
        self
    }

    /// Creates both queues unless they exist.
    pub async fn create_if_not_exists(&self) -> Result<()> {
        self.queue.create_if_not_exists().await?;
        self.poison.create_if_not_exists().await
    }

    /// The queue of what cannot be done.
    pub fn poison(&self) -> &QueueClient {
        &self.poison
    }

    /// Writes an intent down. Workers see it when its time is over and it is not finished.
    pub async fn begin(&self, intent: T) -> Result<Begun<T>> {
        let message = self.queue.put_message(render(&intent)?).invisible_for(self.invisible).never_expires().await?;
        Ok(Begun { intent, message })
    }

    /// Leaves an intent to the workers.
    pub async fn hand_over(&self, intent: &T) -> Result<()> {
        self.queue.put_message(render(intent)?).never_expires().await.map(drop)
    }

    /// Takes another while for an intent. Fails with 404 if it took so long that a worker has resumed it: then the
    /// worker's doing counts, and nothing more may be done here.
    pub async fn renew(&self, begun: Begun<T>) -> Result<Begun<T>> {
        let message = self.queue.update_message(&begun.message, self.invisible).await?;
        Ok(Begun { message, ..begun })
    }

    /// All is done.
    pub async fn finish(&self, begun: Begun<T>) -> Result<()> {
        self.delete(&begun.message).await
    }

    /// Takes one intent that nobody is at. What it says is then carried out, and [`concluded`](Self::conclude). A worker
    /// is a loop around this.
    pub async fn take(&self) -> Result<Taken<T>> {
        let Some(message) = self.queue.get_message().invisible_for(self.invisible).await? else {
            return Ok(Taken::Nothing);
        };
        let intent = serde_json::from_str(&message.text).ok();
        let Some(intent) = intent.filter(|_| message.dequeue_count <= self.tries_max) else {
            // First there, then gone here: a worker that dies in between leaves it twice, and never loses it.
            self.poison.put_message(&message.text).never_expires().await?;
            self.delete(&message).await?;
            return Ok(Taken::Poison);
        };
        Ok(Taken::Intent(Begun { intent, message }))
    }

    /// Finishes an intent that was carried out; one that failed comes back when its time is over.
    pub async fn conclude(&self, begun: Begun<T>, outcome: Result<()>) -> Result<Resumed> {
        match outcome {
            Ok(()) => self.finish(begun).await.map(|()| Resumed::Finished),
            Err(error) => Ok(Resumed::Failed(error)),
        }
    }

    /// A message that is gone, or that somebody else has got meanwhile, is none of ours any more.
    async fn delete(&self, message: &Message) -> Result<()> {
        unless_lost(self.queue.delete_message(message).await).map(drop)
    }
}

fn render<T: Serialize>(intent: &T) -> Result<String> {
    serde_json::to_string(intent).map_err(|error| Error::Invalid(format!("the intent is no JSON: {error}")))
}

impl<T> fmt::Debug for Intents<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, poison, invisible, tries_max, .. } = self;
        let mut shown = f.debug_struct("Intents");
        shown.field("queue", &queue.name()).field("poison", &poison.name()).field("invisible", invisible);
        shown.field("tries_max", tries_max).finish()
    }
}
