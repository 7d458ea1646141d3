//! The record that admitted a request, and that its commits rest on.
//!
//! A stored access policy is a part of a row in another partition than the one that the request changes. On a store that
//! servers share, the policy can be revoked after the request was admitted. So the request runs within the
//! [scope](Witness::scope) of that row, and each of its commits is applied only if the row still admits it.

use std::sync::Arc;

use bytes::Bytes;

use crate::{Error, Result};

tokio::task_local! {
    static CURRENT: Witness;
}

/// Returns whether a value of a record admits a request as the judged one did; `None` if there is no record.
pub type Admits = Arc<dyn Fn(Option<&[u8]>) -> bool + Send + Sync>;

/// A record of which something must still hold when a commit is applied.
#[derive(Clone)]
pub struct Witness {
    /// The partition of the record.
    pub partition: Bytes,
    /// The key within the partition.
    pub key: Bytes,
    /// The judgement of the record's value.
    pub admits: Admits,
}

impl Witness {
    /// Runs some work, all of whose commits to a store that servers share rest on this record. Work that is spawned does not.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tablerock_kv::{Error, ErrorKind, MemoryEngine, Store, Witness};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let store = Store::new(Arc::new(MemoryEngine::shared()));
    /// store.write(b"rules", |tx| tx.put("who", "everyone")).await?;
    /// let admits = Arc::new(|value: Option<&[u8]>| value == Some(b"everyone"));
    /// let witness = Witness { partition: "rules".into(), key: "who".into(), admits };
    /// let write = || store.write(b"data", |tx| tx.put("k", "v"));
    /// assert!(witness.clone().scope(write()).await.is_ok());
    /// store.write(b"rules", |tx| tx.put("who", "admins")).await?;
    /// assert_eq!(witness.scope(write()).await.unwrap_err().kind(), ErrorKind::Unavailable);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        CURRENT.scope(self, work).await
    }

    /// Returns the witness of the work that runs now, if it has one.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// Fails unless the record, as it is now, admits the request.
    pub fn check(&self, found: Option<&[u8]>) -> Result<()> {
        if (self.admits)(found) { Ok(()) } else { Err(Self::changed()) }
    }

    /// The error of a commit whose witness has changed.
    fn changed() -> Error {
        Error::unavailable("the record that admitted the request has changed; retry the request")
    }
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { partition, key, .. } = self;
        f.debug_struct("Witness").field("partition", partition).field("key", key).finish_non_exhaustive()
    }
}
