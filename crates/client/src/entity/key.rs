//! Rust types of keys.

use std::borrow::Cow;
use std::sync::Arc;

use tablerock_protocol::Uuid;

use super::EntityError;

/// A value that converts to a PartitionKey or a RowKey: text, a GUID, or any [`EntityKey`], by value or by reference.
/// Point reads and queries accept it.
///
/// Keys sort as strings, so numbers do not implement it: without leading zeros, `10` sorts before `9`.
///
/// ```
/// use tablerock_client::Uuid;
/// use tablerock_client::entity::AsKey;
///
/// assert_eq!("Sales".as_key(), "Sales");
/// assert_eq!(Uuid::nil().as_key(), "00000000-0000-0000-0000-000000000000");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    label = "not a PartitionKey or RowKey",
    note = "keys sort as strings: format a number with leading zeros, as in `format!(\"{{id:010}}\")`",
    note = "for an enum without fields or a newtype of a key, add `#[derive(EntityKey)]`"
)]
pub trait AsKey {
    /// Converts to a key.
    fn as_key(&self) -> Cow<'_, str>;
}

/// A Rust type that can be the PartitionKey or the RowKey of a struct. `#[derive(EntityKey)]` implements it for enums of
/// unit variants and for newtypes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    label = "cannot be a PartitionKey or RowKey",
    note = "keys sort as strings: use a `String` and format a number with leading zeros, as in `format!(\"{{id:010}}\")`",
    note = "for an enum without fields or a newtype of a key, add `#[derive(EntityKey)]`"
)]
pub trait EntityKey: AsKey + Sized {
    /// Converts from a key.
    fn from_key(key: String) -> Result<Self, EntityError>;

    /// Converts to an owned key.
    fn to_key(&self) -> String {
        self.as_key().into_owned()
    }
}

impl<K: AsKey + ?Sized> AsKey for &K {
    fn as_key(&self) -> Cow<'_, str> {
        (**self).as_key()
    }
}

/// Implements types that deref to text.
macro_rules! texts {
    ($($rust:ty),*) => {
        $(impl AsKey for $rust {
            fn as_key(&self) -> Cow<'_, str> {
                Cow::Borrowed(self)
            }
        })*
    };
}

texts!(str, String, Cow<'_, str>, Box<str>, Arc<str>);

impl EntityKey for String {
    fn from_key(key: String) -> Result<Self, EntityError> {
        Ok(key)
    }
}

/// Formats the GUID in lower case with hyphens.
impl AsKey for Uuid {
    fn as_key(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }
}

impl EntityKey for Uuid {
    fn from_key(key: String) -> Result<Self, EntityError> {
        Uuid::try_parse(&key).map_err(|_| EntityError::new(format!("{key:?} is not a GUID")))
    }
}

impl EntityKey for Cow<'_, str> {
    fn from_key(key: String) -> Result<Self, EntityError> {
        Ok(Cow::Owned(key))
    }
}

impl EntityKey for Box<str> {
    fn from_key(key: String) -> Result<Self, EntityError> {
        Ok(key.into())
    }
}

impl EntityKey for Arc<str> {
    fn from_key(key: String) -> Result<Self, EntityError> {
        Ok(key.into())
    }
}
