//! Queues and their messages.
//!
//! ```
//! # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
//! # example::run(async |connection| {
//! use std::time::Duration;
//! use tablerock_client::QueueServiceClient;
//!
//! let service = QueueServiceClient::from_connection_string(connection)?;
//! let work = service.queue("work");
//! work.create_if_not_exists().await?;
//! work.send_message("archive Sales 00001").await?;
//! if let Some(message) = work.receive_message().visibility_timeout(Duration::from_secs(60)).await? {
//!     println!("attempt {} of: {}", message.dequeue_count, message.text);
//!     work.delete_message(&message).await?;
//! #   assert_eq!((message.text.as_str(), message.dequeue_count), ("archive Sales 00001", 1));
//! }
//! # assert_eq!(work.approximate_message_count().await?, 0);
//! # Ok(()) });
//! ```
//!
//! A queue delivers a message at least once. A message that is not deleted within its visibility timeout is delivered
//! again, as may be one whose delete got no response. The work of a message therefore has to be idempotent.

mod client;
mod listing;
mod message;
mod sas;
mod service;

pub use client::{CreateQueue, QueueClient, QueueProperties};
pub use listing::ListQueues;
pub use message::{QueueMessage, ReceiveMessage, ReceiveMessages, SendMessage};
pub use service::QueueServiceClient;
pub use tablerock_protocol::xml::AnsweredQueue as QueueItem;

use tablerock_protocol::ServiceVersion;

/// The first version with every kind of credential, which all servers support.
const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;
