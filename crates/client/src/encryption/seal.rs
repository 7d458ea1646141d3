//! Encrypting an entity on its way out.

use tablerock_protocol::{Property, Value};

use super::cipher::{EntityCipher, Flavour, random_key_and_iv};
use super::error::{EncryptionError, refused};
use super::metadata::EncryptionData;
use super::{ContentKey, Encryption, METADATA_1, METADATA_2, names};
use crate::Entity;

impl Encryption {
    /// The entity with the properties that are marked, or that the resolver chooses, encrypted under a new content key.
    pub(crate) async fn seal(&self, entity: &Entity) -> Result<Entity, EncryptionError> {
        let (content_key, entity_iv) = random_key_and_iv()?;
        self.seal_with(entity, &content_key, entity_iv).await
    }

    pub(super) async fn seal_with(
        &self,
        entity: &Entity,
        content_key: &ContentKey,
        entity_iv: [u8; 16],
    ) -> Result<Entity, EncryptionError> {
        let (partition_key, row_key) = (entity.partition_key.as_str(), entity.row_key.as_str());
        let cipher =
            EntityCipher { content_key, entity_iv: &entity_iv, partition_key, row_key, flavour: Flavour::DotNet };
        let mut sealed = Entity::new(partition_key, row_key);
        sealed.etag.clone_from(&entity.etag);
        let mut encrypted = Vec::new();
        for Property { name, value } in entity.properties() {
            if name == METADATA_1 || name == METADATA_2 {
                return Err(refused(format!(
                    "the name {name} is reserved: the entity was read without its encryption"
                )));
            }
            let value = match value {
                Value::String(text) if self.is_to_be_encrypted(entity, name) => {
                    encrypted.push(name.as_ref());
                    Value::Binary(cipher.encrypt(name, text)?.into())
                }
                _ if self.is_to_be_encrypted(entity, name) => {
                    let found = value.edm_type().name();
                    return Err(refused(format!("property {name} is {found}, and only text can be encrypted")));
                }
                plain => plain.clone(),
            };
            sealed.push(name.clone(), value);
        }
        let list = cipher.encrypt(METADATA_2, &names::render(&encrypted))?;
        sealed.push(METADATA_2, Value::Binary(list.into()));
        let data = EncryptionData::new(self.wrap(content_key).await?, &entity_iv);
        sealed.push(METADATA_1, Value::from(data.to_text()));
        Ok(sealed)
    }

    fn is_to_be_encrypted(&self, entity: &Entity, name: &str) -> bool {
        entity.is_encrypted(name) || self.is_chosen(&entity.partition_key, &entity.row_key, name)
    }
}
