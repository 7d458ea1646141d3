//! What was asked of a queue and answered, request by request, with the times on both sides.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The server knows no such message, or not by this receipt.
    Refused,
    /// No answer came: it happened or it did not.
    Lost,
}

/// A message as Get Messages gives it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub id: String,
    pub receipt: String,
    pub dequeue_count: u64,
    pub text: String,
}

impl Given {
    pub fn mark(&self) -> &str {
        mark(&self.text)
    }
}

/// A text begins with the mark of its message, which is the same in all its versions.
pub fn mark(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    Put {
        text: String,
        hidden: Duration,
        /// Of the answer.
        receipt: Option<String>,
    },
    Get {
        hidden: Duration,
        given: Vec<Given>,
    },
    Update {
        mark: String,
        receipt: String,
        hidden: Duration,
        /// Without one the message keeps its text.
        text: Option<String>,
        /// Of the answer.
        new_receipt: Option<String>,
    },
    Delete {
        mark: String,
        receipt: String,
    },
    Count {
        messages: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub sent: Instant,
    /// When the answer was there, or it was clear that none would come: then the server had ended before.
    pub ended: Instant,
    /// How long the layer's record was at these times.
    pub positions: (u64, u64),
    pub deed: Deed,
    pub outcome: Outcome,
}

impl Event {
    /// Until when a message may stay invisible because of it.
    pub fn hidden_until(&self) -> Instant {
        let hidden = match &self.deed {
            Deed::Put { hidden, .. } | Deed::Get { hidden, .. } | Deed::Update { hidden, .. } => *hidden,
            Deed::Delete { .. } | Deed::Count { .. } => Duration::ZERO,
        };
        self.ended + hidden
    }

    /// The same, as it was known when nothing had come back yet.
    fn without_answer(&self) -> Self {
        let mut event = Self { outcome: Outcome::Lost, ..self.clone() };
        match &mut event.deed {
            Deed::Put { receipt, .. } => *receipt = None,
            Deed::Get { given, .. } => given.clear(),
            Deed::Update { new_receipt, .. } => *new_receipt = None,
            Deed::Delete { .. } | Deed::Count { .. } => {}
        }
        event
    }
}

/// All that happened to a queue since it was last empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageLog {
    pub events: Vec<Event>,
    /// Marks of messages that came and went before: none of them may be seen again.
    pub gone: BTreeSet<String>,
}

impl MessageLog {
    /// What was known when the layer's record was this long.
    #[must_use]
    pub fn at(&self, position: u64) -> Self {
        let known = |event: &Event| match event.positions {
            (_, ended_at) if ended_at <= position => Some(event.clone()),
            (sent_at, _) if sent_at < position => Some(event.without_answer()),
            _ => None,
        };
        Self { events: self.events.iter().filter_map(known).collect(), gone: self.gone.clone() }
    }

    /// The same, before a record that begins now.
    #[must_use]
    pub fn before_record(mut self) -> Self {
        self.events.iter_mut().for_each(|event| event.positions = (0, 0));
        self
    }

    /// When all messages are visible, if nobody asks for any.
    pub fn quiet_at(&self) -> Option<Instant> {
        self.events.iter().map(Event::hidden_until).max()
    }

    /// The queue is empty: all that was put is gone for good.
    pub fn close(&mut self) {
        for event in self.events.drain(..) {
            if let Deed::Put { text, .. } = &event.deed {
                self.gone.insert(mark(text).to_owned());
            }
        }
    }
}
