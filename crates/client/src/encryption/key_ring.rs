//! Local keys by id.

use std::collections::HashMap;
use std::sync::Arc;

use super::error::KeyError;
use super::key::{KeyResolver, KeyWrapper};
use crate::transport::BoxFuture;

/// A set of keys, such as those of several years.
///
/// ```
/// use tablerock_client::encryption::{AesKey, EncryptionPolicy, KeyRing};
///
/// let (old, new) = (AesKey::new("2025", &[1; 32])?, AesKey::new("2026", &[2; 32])?);
/// let encryption = EncryptionPolicy::new(new.clone()).key_resolver(KeyRing::new().with(old).with(new));
/// # Ok::<(), tablerock_client::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KeyRing {
    keys: HashMap<String, Arc<dyn KeyWrapper>>,
}

impl KeyRing {
    /// Returns a ring without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key, or replaces that with the same id.
    #[must_use]
    pub fn with(mut self, key: impl KeyWrapper + 'static) -> Self {
        self.keys.insert(key.id().to_owned(), Arc::new(key));
        self
    }
}

impl KeyResolver for KeyRing {
    fn resolve<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn KeyWrapper>>, KeyError>> {
        Box::pin(std::future::ready(Ok(self.keys.get(id).cloned())))
    }
}
