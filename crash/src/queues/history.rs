//! The history of a queue: all requests with their outcomes and times.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueOutcome {
    Done,
    /// There is no such message, or the receipt is not valid.
    Rejected,
    /// No response came.
    Unknown,
}

/// A message as Get Messages returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub id: String,
    pub receipt: String,
    pub dequeue_count: u64,
    pub text: String,
}

impl ReceivedMessage {
    pub fn mark(&self) -> &str {
        mark(&self.text)
    }

    pub(crate) fn handle(&self) -> MessageHandle {
        MessageHandle { id: self.id.clone(), mark: self.mark().to_owned(), receipt: self.receipt.clone() }
    }
}

/// A message with a receipt, which may have become invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageHandle {
    pub id: String,
    pub mark: String,
    pub receipt: String,
}

/// The mark of a message, which is the first word of all its texts.
pub(super) fn mark(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueOperation {
    Put {
        text: String,
        invisible_for: Duration,
        /// From the response.
        created: Option<MessageHandle>,
    },
    Get {
        count: usize,
        invisible_for: Duration,
        received: Vec<ReceivedMessage>,
    },
    Update {
        message: MessageHandle,
        invisible_for: Duration,
        /// `None` keeps the text.
        text: Option<String>,
        /// From the response.
        new_receipt: Option<String>,
    },
    Delete(MessageHandle),
    Count {
        messages: u64,
    },
}

impl QueueOperation {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Put { .. } => "Put Message",
            Self::Get { .. } => "Get Messages",
            Self::Update { .. } => "Update Message",
            Self::Delete(_) => "Delete Message",
            Self::Count { .. } => "Get Queue Metadata",
        }
    }

    pub(crate) fn put(text: String, invisible_for: Duration) -> Self {
        Self::Put { text, invisible_for, created: None }
    }

    pub(crate) fn get(count: usize, invisible_for: Duration) -> Self {
        Self::Get { count, invisible_for, received: vec![] }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueEvent {
    pub sent: Instant,
    /// The time of the response, or the time at which the connection was lost.
    pub ended: Instant,
    /// The logical times of both.
    pub logical_times: (u64, u64),
    pub operation: QueueOperation,
    pub outcome: QueueOutcome,
}

impl QueueEvent {
    /// The latest time at which a message becomes visible after this request.
    pub fn invisible_until(&self) -> Instant {
        let invisible_for = match &self.operation {
            QueueOperation::Put { invisible_for, .. }
            | QueueOperation::Get { invisible_for, .. }
            | QueueOperation::Update { invisible_for, .. } => *invisible_for,
            QueueOperation::Delete(_) | QueueOperation::Count { .. } => Duration::ZERO,
        };
        self.ended + invisible_for
    }

    /// The same event before its response.
    fn without_response(&self) -> Self {
        let mut event = Self { outcome: QueueOutcome::Unknown, ..self.clone() };
        match &mut event.operation {
            QueueOperation::Put { created, .. } => *created = None,
            QueueOperation::Get { received, .. } => received.clear(),
            QueueOperation::Update { new_receipt, .. } => *new_receipt = None,
            QueueOperation::Delete(_) | QueueOperation::Count { .. } => {}
        }
        event
    }
}

/// All requests to a queue since it was last empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueHistory {
    pub events: Vec<QueueEvent>,
    /// The marks of earlier messages. None of them may appear again.
    pub deleted: BTreeSet<String>,
}

impl QueueHistory {
    /// The history as it was known at a logical time.
    #[must_use]
    pub fn at(&self, time: u64) -> Self {
        let known = |event: &QueueEvent| match event.logical_times {
            (_, ended_at) if ended_at <= time => Some(event.clone()),
            (sent_at, _) if sent_at < time => Some(event.without_response()),
            _ => None,
        };
        Self { events: self.events.iter().filter_map(known).collect(), deleted: self.deleted.clone() }
    }

    /// The same history, before the start of a logical clock.
    #[must_use]
    pub fn before_record(mut self) -> Self {
        self.events.iter_mut().for_each(|event| event.logical_times = (0, 0));
        self
    }

    /// The time at which all messages are visible if no request follows.
    pub fn all_visible_at(&self) -> Option<Instant> {
        self.events.iter().map(QueueEvent::invisible_until).max()
    }

    /// Begins a new history with an empty queue. None of the messages so far may appear again.
    pub fn restart_empty(&mut self) {
        for event in self.events.drain(..) {
            if let QueueOperation::Put { text, .. } = &event.operation {
                self.deleted.insert(mark(text).to_owned());
            }
        }
    }
}
