//! What a client encrypts with, and what.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::error::{EncryptionError, KeyError};
use super::key::{ContentKey, KeyResolver, KeyWrapper};
use super::metadata::WrappedContentKey;
use crate::ClientOptions;
use crate::transport::BoxFuture;

type PropertyResolver = dyn Fn(&str, &str, &str) -> bool + Send + Sync;

/// How a table's client encrypts and decrypts; see [`TableClient::with_encryption`](crate::TableClient::with_encryption).
///
/// ```
/// use tablerock_client::TableServiceClient;
/// use tablerock_client::encryption::{AesKey, Encryption};
///
/// let service = TableServiceClient::from_connection_string("UseDevelopmentStorage=true")?;
/// let encryption = Encryption::new(AesKey::new("local:2026", &[7; 32])?)
///     .properties(|partition_key, _row_key, name| partition_key == "Sales" && name == "Salary")
///     .required();
/// let people = service.table("People").with_encryption(encryption);
/// # Ok::<(), tablerock_client::Error>(())
/// ```
#[derive(Clone)]
pub struct Encryption {
    pub(super) key: Arc<dyn KeyWrapper>,
    keys: Option<Arc<dyn KeyResolver>>,
    properties: Option<Arc<PropertyResolver>>,
    pub(super) is_required: bool,
    /// How long a key, or the search for one, may take.
    time_max: Duration,
}

impl Encryption {
    /// Wraps content keys with this key, and unwraps those that it has wrapped.
    pub fn new(key: impl KeyWrapper + 'static) -> Self {
        let time_max = ClientOptions::new().try_time_max;
        Self { key: Arc::new(key), keys: None, properties: None, is_required: false, time_max }
    }

    /// Finds the keys for reading here, before it tries the one for writing.
    #[must_use]
    pub fn keys(mut self, keys: impl KeyResolver + 'static) -> Self {
        self.keys = Some(Arc::new(keys));
        self
    }

    /// Encrypts the properties for which this says so, given PartitionKey, RowKey and name, beside those that their
    /// struct has marked with `#[entity(encrypt)]`.
    #[must_use]
    pub fn properties(mut self, resolver: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static) -> Self {
        self.properties = Some(Arc::new(resolver));
        self
    }

    /// Refuses to read entities that are not encrypted.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// The same with another bound on the time that a key may take: keys can be in a service, like entities.
    pub(crate) fn within(self, time_max: Duration) -> Self {
        Self { time_max, ..self }
    }

    pub(crate) fn is_chosen(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
        self.properties.as_ref().is_some_and(|resolver| resolver(partition_key, row_key, name))
    }

    pub(super) async fn wrap(&self, content_key: &ContentKey) -> Result<WrappedContentKey, EncryptionError> {
        let wrapped = self.in_time(self.key.id(), self.key.wrap(content_key)).await?;
        Ok(WrappedContentKey::new(self.key.as_ref(), &wrapped))
    }

    pub(super) async fn unwrap(&self, wrapped: &WrappedContentKey) -> Result<ContentKey, EncryptionError> {
        let WrappedContentKey { key_id, algorithm, .. } = wrapped;
        let key = self.find_key(key_id).await?;
        self.in_time(key_id, key.unwrap(&wrapped.encrypted_key()?, algorithm)).await
    }

    async fn find_key(&self, id: &str) -> Result<Arc<dyn KeyWrapper>, EncryptionError> {
        let found = match &self.keys {
            Some(keys) => self.in_time(id, keys.resolve(id)).await?,
            None => None,
        };
        let own = || (self.key.id() == id).then(|| Arc::clone(&self.key));
        found.or_else(own).ok_or_else(|| EncryptionError::UnknownKey(id.to_owned()))
    }

    /// What a key does, within the bound.
    async fn in_time<T>(&self, id: &str, work: BoxFuture<'_, Result<T, KeyError>>) -> Result<T, EncryptionError> {
        let done = tokio::time::timeout(self.time_max, work).await;
        let done = done.unwrap_or_else(|_| Err(KeyError::new(format!("it took longer than {:?}", self.time_max))));
        done.map_err(|source| EncryptionError::Key { id: id.to_owned(), source })
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys may show in their own way what they are, so only their names are told.
        let mut shown = f.debug_struct("Encryption");
        shown.field("key", &self.key.id()).field("has_resolver", &self.properties.is_some());
        shown.field("is_required", &self.is_required).finish_non_exhaustive()
    }
}
