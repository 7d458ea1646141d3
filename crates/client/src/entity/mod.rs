//! Entities: the dynamic [`Entity`], conversion from and to Rust types, and columns for filters.

mod column;
mod conversion;
mod dates;
#[doc(hidden)]
pub mod derived;
mod dynamic;
mod etag;
mod key;
mod keyed;
mod known_names;
mod literal;
mod names;
mod properties;
mod traits;
mod value;
#[cfg(feature = "serde")]
mod with_serde;

pub use column::{Column, column, partition_key, row_key, timestamp};
pub use conversion::PropertyValue;
pub use dates::IntoDateTime;
pub use dynamic::Entity;
pub use etag::Etag;
pub use key::{AsKey, EntityKey};
pub use keyed::Keyed;
pub use literal::{IntoLiteral, edm};
pub use properties::Properties;
pub use traits::{EntityError, FromEntity, TableEntity, ToProperties};
pub use value::IntoValue;
#[cfg(feature = "serde")]
pub use with_serde::Serde;

pub(crate) use known_names::KnownNames;
