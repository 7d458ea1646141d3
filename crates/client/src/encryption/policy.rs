//! The keys of a client, and the properties that it encrypts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::error::{EncryptionError, KeyError};
use super::key::{ContentKey, KeyResolver, KeyWrapper};
use super::metadata::WrappedContentKey;
use crate::ClientOptions;
use crate::transport::BoxFuture;

type EncryptionResolver = dyn Fn(&str, &str, &str) -> bool + Send + Sync;

/// How a table's client encrypts and decrypts; see
/// [`TableClient::with_encryption`](crate::TableClient::with_encryption).
///
/// ```
/// use tablerock_client::TableServiceClient;
/// use tablerock_client::encryption::{AesKey, EncryptionPolicy};
///
/// let service = TableServiceClient::from_connection_string("UseDevelopmentStorage=true")?;
/// let policy = EncryptionPolicy::new(AesKey::new("local:2026", &[7; 32])?)
///     .encryption_resolver(|partition_key, _row_key, name| partition_key == "Sales" && name == "Salary")
///     .require_encryption();
/// let people = service.table("People").with_encryption(policy);
/// # Ok::<(), tablerock_client::Error>(())
/// ```
#[doc(alias = "TableEncryptionPolicy")]
#[derive(Clone)]
pub struct EncryptionPolicy {
    pub(super) key: Arc<dyn KeyWrapper>,
    key_resolver: Option<Arc<dyn KeyResolver>>,
    encryption_resolver: Option<Arc<EncryptionResolver>>,
    pub(super) is_required: bool,
    /// The timeout of a key and of the key resolver.
    timeout: Duration,
}

impl EncryptionPolicy {
    /// Returns a policy that wraps and unwraps content keys with a key.
    pub fn new(key: impl KeyWrapper + 'static) -> Self {
        let timeout = ClientOptions::new().attempt_timeout;
        Self { key: Arc::new(key), key_resolver: None, encryption_resolver: None, is_required: false, timeout }
    }

    /// Sets the resolver of keys for reading. It has precedence over the key of the policy.
    #[must_use]
    pub fn key_resolver(mut self, resolver: impl KeyResolver + 'static) -> Self {
        self.key_resolver = Some(Arc::new(resolver));
        self
    }

    /// Sets a function of PartitionKey, RowKey and property name that selects properties to encrypt, in addition to
    /// those marked with `#[entity(encrypt)]`.
    #[must_use]
    pub fn encryption_resolver(mut self, resolver: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static) -> Self {
        self.encryption_resolver = Some(Arc::new(resolver));
        self
    }

    /// Rejects entities that are not encrypted when they are read. Writes are not affected.
    #[must_use]
    pub fn require_encryption(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Sets the timeout of keys, which may be in a remote service.
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub(crate) fn selects(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
        self.encryption_resolver.as_ref().is_some_and(|resolver| resolver(partition_key, row_key, name))
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
        let found = match &self.key_resolver {
            Some(resolver) => self.in_time(id, resolver.resolve(id)).await?,
            None => None,
        };
        let own = || (self.key.id() == id).then(|| Arc::clone(&self.key));
        found.or_else(own).ok_or_else(|| EncryptionError::UnknownKey(id.to_owned()))
    }

    /// Runs the work of a key within the timeout.
    async fn in_time<T>(&self, id: &str, work: BoxFuture<'_, Result<T, KeyError>>) -> Result<T, EncryptionError> {
        let done = tokio::time::timeout(self.timeout, work).await;
        let done = done.unwrap_or_else(|_| Err(KeyError::new(format!("it took longer than {:?}", self.timeout))));
        done.map_err(|source| EncryptionError::Key { id: id.to_owned(), source })
    }
}

impl fmt::Debug for EncryptionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The Debug of a key may show it: only its id is printed.
        let mut shown = f.debug_struct("EncryptionPolicy");
        shown.field("key", &self.key.id()).field("has_resolver", &self.encryption_resolver.is_some());
        shown.field("is_required", &self.is_required).finish_non_exhaustive()
    }
}
