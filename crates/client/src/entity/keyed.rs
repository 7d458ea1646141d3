//! A value with the keys and the ETag of its entity.

use tablerock_protocol::DateTime;

use super::{Entity, EntityError, Etag, FromEntity, TableEntity, ToProperties};

/// A value with the keys, Timestamp and ETag of its entity, for types without such fields. It can be written like any
/// entity.
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
    /// The time of the last write.
    pub timestamp: Option<DateTime>,
    /// The ETag of the version that was read.
    pub etag: Option<Etag>,
    /// The value.
    pub value: T,
}

impl<T> Keyed<T> {
    /// Returns a value with keys, to be written.
    pub fn new(partition_key: impl Into<String>, row_key: impl Into<String>, value: T) -> Self {
        let (partition_key, row_key) = (partition_key.into(), row_key.into());
        Self { partition_key, row_key, timestamp: None, etag: None, value }
    }
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

impl<T: FromEntity + ToProperties> TableEntity for Keyed<T> {
    fn to_entity(&self) -> Result<Entity, EntityError> {
        let mut entity = Entity::new(self.partition_key.clone(), self.row_key.clone());
        entity.etag.clone_from(&self.etag);
        self.value.append_to(&mut entity)?;
        Ok(entity)
    }
}
