//! A projection with the entity's keys and version beside it.

use tablerock_protocol::DateTime;

use super::{Entity, EntityError, Etag, FromEntity};

/// Any readable type together with the keys, Timestamp and ETag of the entity that it came from, for types that have
/// no fields for them.
///
/// ```
/// use tablerock_client::{Entity, FromEntity, Keyed, TableEntity};
///
/// #[derive(TableEntity)]
/// struct EmailOnly {
///     #[entity(rename = "Email")]
///     email: String,
/// }
///
/// let entity = Entity::new("Sales", "00001").with("Email", "ann@example.com");
/// let read = Keyed::<EmailOnly>::from_entity(entity)?;
/// assert_eq!((read.row_key.as_str(), read.value.email.as_str()), ("00001", "ann@example.com"));
/// # Ok::<(), tablerock_client::EntityError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Keyed<T> {
    /// The entity's PartitionKey.
    pub partition_key: String,
    /// The entity's RowKey.
    pub row_key: String,
    /// When the entity was last written.
    pub timestamp: Option<DateTime>,
    /// The version that was read.
    pub etag: Option<Etag>,
    /// What was read of it.
    pub value: T,
}

impl<T: FromEntity> FromEntity for Keyed<T> {
    const SELECT: Option<&'static [&'static str]> = T::SELECT;

    fn from_entity(entity: Entity) -> Result<Self, EntityError> {
        Ok(Self {
            partition_key: entity.partition_key.clone(),
            row_key: entity.row_key.clone(),
            timestamp: entity.timestamp,
            etag: entity.etag.clone(),
            value: T::from_entity(entity)?,
        })
    }
}
