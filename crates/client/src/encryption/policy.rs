//! What a client encrypts with, and what.

use std::fmt;
use std::sync::Arc;

use super::error::{EncryptionError, KeyError};
use super::key::{ContentKey, KeyResolver, KeyWrapper};
use super::metadata::WrappedContentKey;

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
}

impl Encryption {
    /// Wraps content keys with this key, and unwraps those that it has wrapped.
    pub fn new(key: impl KeyWrapper + 'static) -> Self {
        Self { key: Arc::new(key), keys: None, properties: None, is_required: false }
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

    pub(crate) fn is_chosen(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
        self.properties.as_ref().is_some_and(|resolver| resolver(partition_key, row_key, name))
    }

    pub(super) async fn wrap(&self, content_key: &ContentKey) -> Result<WrappedContentKey, EncryptionError> {
        let wrapped = self.key.wrap(content_key).await.map_err(|source| failed(self.key.id(), source))?;
        Ok(WrappedContentKey::new(self.key.as_ref(), &wrapped))
    }

    pub(super) async fn unwrap(&self, wrapped: &WrappedContentKey) -> Result<ContentKey, EncryptionError> {
        let WrappedContentKey { key_id, algorithm, .. } = wrapped;
        let key = self.find_key(key_id).await?;
        key.unwrap(&wrapped.encrypted_key()?, algorithm).await.map_err(|source| failed(key_id, source))
    }

    async fn find_key(&self, id: &str) -> Result<Arc<dyn KeyWrapper>, EncryptionError> {
        let found = match &self.keys {
            Some(keys) => keys.resolve(id).await.map_err(|source| failed(id, source))?,
            None => None,
        };
        let own = || (self.key.id() == id).then(|| Arc::clone(&self.key));
        found.or_else(own).ok_or_else(|| EncryptionError::UnknownKey(id.to_owned()))
    }
}

fn failed(id: &str, source: KeyError) -> EncryptionError {
    EncryptionError::Key { id: id.to_owned(), source }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, keys, properties, is_required } = self;
        let mut shown = f.debug_struct("Encryption");
        shown.field("key", key).field("keys", keys).field("has_resolver", &properties.is_some());
        shown.field("is_required", is_required).finish()
    }
}
