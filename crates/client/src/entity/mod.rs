//! Entities: the dynamic bag, Rust types that become one and come from one, and the values of properties.

mod bag;
mod column;
mod conversion;
mod dates;
mod etag;
mod key;
mod keyed;
mod literal;
mod traits;
mod value;

pub use bag::Entity;
pub use column::{Column, column, partition_key, row_key, timestamp};
pub use conversion::PropertyValue;
pub use dates::IntoDateTime;
pub use etag::Etag;
pub use key::EntityKey;
pub use keyed::Keyed;
pub use literal::{IntoLiteral, edm};
pub use traits::{EntityError, FromEntity, TableEntity};
pub use value::IntoValue;

#[doc(hidden)]
pub use traits::derived;
