//! The references of a large entity to the blobs with its large values, and the intent of a change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tablerock_client::{Entity, Error, Result, Value};

use crate::optimistic::random;

/// The property with the references to blobs.
pub(crate) const REFERENCES: &str = "LargeValues";
/// The property of a placeholder with the id of the writer's intent.
pub(crate) const PENDING: &str = "LargePending";
pub(crate) const OWN: [&str; 2] = [REFERENCES, PENDING];
/// The size above which a value is stored in a blob: half of the 64 KiB that a property holds.
pub(crate) const VALUE_BYTES_MAX: usize = 32 * 1024;

/// The intent of a change: the entity, and the blobs that may become unused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BlobUpdate {
    /// Identifies the placeholder and the new blobs. The id of the message changes if it was moved to the poison queue
    /// and back.
    pub(crate) id: String,
    pub(crate) entity: (String, String),
    /// The blobs that the entity refers to before the change.
    pub(crate) old: Vec<String>,
    /// The properties with values in new blobs.
    pub(crate) new: Vec<String>,
}

impl BlobUpdate {
    pub(crate) fn new(entity: &Entity, before: Option<&Entity>, new: Vec<String>) -> Result<Self> {
        let old = before.map(references).transpose()?.unwrap_or_default();
        let old = old.into_values().map(|reference| reference.blob).collect();
        let id = format!("{:016x}{:016x}", random(), random());
        Ok(Self { id, entity: (entity.partition_key.clone(), entity.row_key.clone()), old, new })
    }

    pub(crate) fn blob_name(&self, property: &str) -> String {
        format!("{}/{property}", self.id)
    }

    /// Returns all blobs that may be unused after the change.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = String> + '_ {
        self.old.iter().cloned().chain(self.new.iter().map(|property| self.blob_name(property)))
    }

    /// Whether an entity is the placeholder of this change.
    pub(crate) fn is_placeholder(&self, entity: &Entity) -> bool {
        matches!(entity.get(PENDING), Some(Value::String(id)) if *id == self.id)
    }
}

/// The blob of a value, and its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) blob: String,
    pub(crate) is_text: bool,
}

pub(crate) type References = BTreeMap<String, Reference>;

/// Returns the size of a value that can be stored in a blob.
pub(crate) fn size(value: &Value<'_>) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Binary(bytes) => bytes.len(),
        _ => 0,
    }
}

pub(crate) fn references(entity: &Entity) -> Result<References> {
    let text: Option<String> = entity.property(REFERENCES)?;
    let references = text.map(|text| serde_json::from_str(&text)).transpose();
    references
        .map(Option::unwrap_or_default)
        .map_err(|error| Error::InvalidResponse(format!("the property {REFERENCES} is invalid: {error}")))
}

pub(crate) fn take_references(entity: &mut Entity) -> Result<References> {
    let references = references(entity)?;
    entity.remove(REFERENCES);
    Ok(references)
}

pub(crate) fn is_placeholder(entity: &Entity) -> bool {
    entity.get(PENDING).is_some()
}
