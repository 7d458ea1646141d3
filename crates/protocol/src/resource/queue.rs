//! The resource that a path of the Queue service addresses.

use super::decode;
use crate::{ErrorCode, QueueName, ServiceError};

/// A resource of the Queue service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueResource {
    /// The service root: the list of queues, properties and stats.
    Service,
    /// `/q`.
    Queue {
        /// The queue.
        queue: QueueName,
    },
    /// `/q/messages`.
    Messages {
        /// The queue.
        queue: QueueName,
    },
    /// `/q/messages/id`. A malformed id finds no message.
    Message {
        /// The queue.
        queue: QueueName,
        /// The id of the message.
        id: String,
    },
}

impl QueueResource {
    /// Reads the path below the account's root, still percent-encoded. Repeated slashes are tolerated, as for
    /// tables: no name here has one in it.
    pub fn parse(raw_path: &str) -> Result<Self, ServiceError> {
        let mut segments = raw_path.split('/').filter(|segment| !segment.is_empty());
        let Some(first) = segments.next() else { return Ok(Self::Service) };
        let queue = QueueName::parse(&decode(first)?)?;
        let Some(second) = segments.next() else { return Ok(Self::Queue { queue }) };
        if !decode(second)?.eq_ignore_ascii_case("messages") {
            return Err(ErrorCode::InvalidUri.into());
        }
        match (segments.next(), segments.next()) {
            (None, _) => Ok(Self::Messages { queue }),
            (Some(id), None) => Ok(Self::Message { queue, id: decode(id)?.into_owned() }),
            _ => Err(ErrorCode::InvalidUri.into()),
        }
    }

    /// Returns the queue, if one is addressed.
    pub fn queue(&self) -> Option<&QueueName> {
        match self {
            Self::Service => None,
            Self::Queue { queue } | Self::Messages { queue } | Self::Message { queue, .. } => Some(queue),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_and_messages_are_told_apart() {
        let queue = || QueueName::parse("jobs").unwrap();
        assert_eq!(QueueResource::parse("/"), Ok(QueueResource::Service));
        assert_eq!(QueueResource::parse(""), Ok(QueueResource::Service));
        assert_eq!(QueueResource::parse("/jobs"), Ok(QueueResource::Queue { queue: queue() }));
        assert_eq!(QueueResource::parse("//jobs/"), Ok(QueueResource::Queue { queue: queue() }));
        assert_eq!(QueueResource::parse("/jobs/messages"), Ok(QueueResource::Messages { queue: queue() }));
        let message = QueueResource::Message { queue: queue(), id: "a b".into() };
        assert_eq!(QueueResource::parse("/%6aobs/Messages/a%20b"), Ok(message));
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        for (path, code) in [
            ("/jobs/letters", ErrorCode::InvalidUri),
            ("/jobs/messages/a/b", ErrorCode::InvalidUri),
            ("/%ff", ErrorCode::RequestUrlFailedToParse),
            ("/Jobs", ErrorCode::InvalidResourceName),
            ("/ab/messages", ErrorCode::OutOfRangeInput),
        ] {
            assert_eq!(QueueResource::parse(path).unwrap_err().code, code, "{path}");
        }
    }
}
