//! Keys that wrap keys. They may live in memory, in a file or in a service that never lets them out: wrapping and
//! unwrapping are all that is asked of them.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::error::KeyError;
use crate::transport::BoxFuture;

/// A content key in the open; it is wiped from memory when dropped.
pub type ContentKey = Zeroizing<Vec<u8>>;

/// A key-encryption key. [`AesKey`](super::AesKey) and, with the feature `encryption-rsa`, `RsaKey` are local ones; a
/// key in a vault implements this by calling it.
pub trait KeyWrapper: fmt::Debug + Send + Sync {
    /// The id that is stored with what the key has wrapped; a [`KeyResolver`] finds the key by it.
    fn id(&self) -> &str;

    /// The algorithm that [`wrap`](Self::wrap) uses, by the names of JSON Web Algorithms: `A256KW`, `RSA-OAEP`.
    fn algorithm(&self) -> &str;

    /// Wraps a content key.
    fn wrap<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, KeyError>>;

    /// Unwraps what was wrapped by an algorithm, not necessarily the one that the key wraps with today.
    fn unwrap<'a>(&'a self, wrapped: &'a [u8], algorithm: &'a str) -> BoxFuture<'a, Result<ContentKey, KeyError>>;
}

/// Finds keys by their ids, so that entities of many keys can be read.
pub trait KeyResolver: fmt::Debug + Send + Sync {
    /// The key with this id, if there is one.
    fn resolve<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn KeyWrapper>>, KeyError>>;
}
