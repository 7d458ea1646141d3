//! Queues: create them, put messages in, get them out again, and say when one is done.
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
//! work.put_message("archive Sales 00001").await?;
//! if let Some(message) = work.get_message().invisible_for(Duration::from_secs(60)).await? {
//!     println!("try {} of: {}", message.dequeue_count, message.text);
//!     work.delete_message(&message).await?;
//! #   assert_eq!((message.text.as_str(), message.dequeue_count), ("archive Sales 00001", 1));
//! }
//! # assert_eq!(work.message_count().await?, 0);
//! # Ok(()) });
//! ```
//!
//! A message is delivered at least once: one that is not deleted within its time comes back, and so may one whose
//! delete got no answer. Work that is done twice has to come out as if it had been done once.

mod client;
mod listing;
mod message;
mod sas;
mod service;

pub use client::QueueClient;
pub use listing::QueueListing;
pub use message::{GetMessage, GetMessages, Message, PutMessage};
pub use service::QueueServiceClient;
pub use tablerock_protocol::xml::AnsweredQueue as ListedQueue;

use tablerock_protocol::ServiceVersion;

/// The first version that takes every kind of credential, and one that all servers know.
const VERSION: ServiceVersion = ServiceVersion::BEARER_TOKEN;
