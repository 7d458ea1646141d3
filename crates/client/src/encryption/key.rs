//! Key-encryption keys. A key may be in memory, or in a service such as Azure Key Vault: the client only wraps and
//! unwraps with it.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::error::KeyError;
use crate::transport::BoxFuture;

/// An unwrapped content key, which is erased when it is dropped.
pub type ContentKey = Zeroizing<Vec<u8>>;

/// A key-encryption key. [`AesKey`](super::AesKey) and, with the feature `encryption-rsa`, `RsaKey` are local keys.
/// Implement this trait for a key in a vault.
#[doc(alias = "IKeyEncryptionKey")]
#[doc(alias = "KeyEncryptionKey")]
#[doc(alias = "IKey")]
pub trait KeyWrapper: fmt::Debug + Send + Sync {
    /// Returns the id that is stored with every wrapped key; a [`KeyResolver`] finds the key by it.
    fn id(&self) -> &str;

    /// Returns the algorithm of [`wrap`](Self::wrap) as in JSON Web Algorithms: `A256KW`, `RSA-OAEP`.
    fn algorithm(&self) -> &str;

    /// Wraps a content key.
    fn wrap<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, KeyError>>;

    /// Unwraps a content key that was wrapped with an algorithm, possibly an earlier one of the key.
    fn unwrap<'a>(&'a self, wrapped: &'a [u8], algorithm: &'a str) -> BoxFuture<'a, Result<ContentKey, KeyError>>;
}

/// Finds keys by id, to read entities with different keys.
#[doc(alias = "IKeyResolver")]
pub trait KeyResolver: fmt::Debug + Send + Sync {
    /// Returns the key with an id, if there is one.
    fn resolve<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn KeyWrapper>>, KeyError>>;
}
