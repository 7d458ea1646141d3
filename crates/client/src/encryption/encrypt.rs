//! Encryption of entities.

use tablerock_protocol::{Property, Value};

use super::cipher::{EntityCipher, Flavour, random_key_and_iv};
use super::error::{EncryptionError, not_allowed};
use super::metadata::EncryptionData;
use super::{ContentKey, EncryptionPolicy, METADATA_1, METADATA_2, names};
use crate::Entity;

impl EncryptionPolicy {
    /// Encrypts the properties that are marked, or that the resolver selects, with a new content key.
    pub(crate) async fn encrypt(&self, entity: &Entity) -> Result<Entity, EncryptionError> {
        let (content_key, entity_iv) = random_key_and_iv()?;
        self.encrypt_with(entity, &content_key, entity_iv).await
    }

    pub(super) async fn encrypt_with(
        &self,
        entity: &Entity,
        content_key: &ContentKey,
        entity_iv: [u8; 16],
    ) -> Result<Entity, EncryptionError> {
        let (partition_key, row_key) = (entity.partition_key.as_str(), entity.row_key.as_str());
        let cipher =
            EntityCipher { content_key, entity_iv: &entity_iv, partition_key, row_key, flavour: Flavour::DotNet };
        let mut stored = Entity::new(partition_key, row_key);
        stored.etag.clone_from(&entity.etag);
        let mut encrypted = Vec::new();
        for Property { name, value } in entity.properties() {
            if name == METADATA_1 || name == METADATA_2 {
                return Err(not_allowed(format!(
                    "the property name {name} is reserved: the entity was read without encryption"
                )));
            }
            let value = match value {
                Value::String(text) if self.is_selected(entity, name) => {
                    encrypted.push(name.as_ref());
                    Value::Binary(cipher.encrypt(name, text)?.into())
                }
                _ if self.is_selected(entity, name) => {
                    let found = value.edm_type().name();
                    return Err(not_allowed(format!("property {name} is {found}: only Edm.String can be encrypted")));
                }
                plain => plain.clone(),
            };
            stored.push(name.clone(), value);
        }
        let list = cipher.encrypt(METADATA_2, &names::render(&encrypted))?;
        stored.push(METADATA_2, Value::Binary(list.into()));
        let data = EncryptionData::new(self.wrap(content_key).await?, &entity_iv);
        stored.push(METADATA_1, Value::from(data.to_text()));
        Ok(stored)
    }

    fn is_selected(&self, entity: &Entity, name: &str) -> bool {
        entity.is_encrypted(name) || self.selects(&entity.partition_key, &entity.row_key, name)
    }
}
