//! Decryption of entities, of any library.

use tablerock_protocol::Value;

use super::cipher::EntityCipher;
use super::error::{EncryptionError, damaged};
use super::metadata::EncryptionData;
use super::{EncryptionPolicy, METADATA_1, METADATA_2, names};
use crate::Entity;

impl EncryptionPolicy {
    /// Decrypts all encrypted properties of an entity. Returns a plain entity unchanged, unless the policy requires
    /// encryption.
    pub(crate) async fn decrypt(&self, entity: Entity) -> Result<Entity, EncryptionError> {
        let (partition_key, row_key) = (entity.partition_key.clone(), entity.row_key.clone());
        self.decrypt_at(entity, &partition_key, &row_key).await.map_err(|error| match error {
            // The keys identify the entity among many.
            EncryptionError::Damaged(why) => damaged(format!("{why} (entity {partition_key:?}, {row_key:?})")),
            other => other,
        })
    }

    async fn decrypt_at(
        &self,
        mut entity: Entity,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Entity, EncryptionError> {
        // A projection selects both.
        let (data, list) = match (entity.remove(METADATA_1), entity.remove(METADATA_2)) {
            (Some(Value::String(data)), Some(Value::Binary(list))) => (data, list),
            (None, None) if self.is_required => return Err(EncryptionError::NotEncrypted),
            (None, None) => return Ok(entity),
            (Some(_), Some(_)) => return Err(damaged("its metadata has the wrong types")),
            (Some(_), None) | (None, Some(_)) => return Err(damaged("half of its metadata is missing")),
        };
        let data = EncryptionData::parse(&data)?;
        let content_key = self.unwrap(&data.wrapped_content_key).await?;
        let mut cipher = EntityCipher {
            content_key: &content_key,
            entity_iv: &data.entity_iv()?,
            partition_key,
            row_key,
            flavour: data.flavour(),
        };
        for name in cipher.find_names(&list)? {
            match entity.get(&name) {
                Some(Value::Binary(bytes)) => {
                    let text = cipher.decrypt(&name, bytes)?;
                    entity.set(name.clone(), text);
                    entity.mark_encrypted(name);
                }
                Some(_) => return Err(damaged(format!("property {name} is damaged"))),
                // A projection has omitted it.
                None => {}
            }
        }
        Ok(entity)
    }
}

impl EntityCipher<'_> {
    /// Decrypts the names of the encrypted properties. If the likely flavour fails, uses the other one.
    fn find_names(&mut self, list: &[u8]) -> Result<Vec<String>, EncryptionError> {
        let likely = self.flavour;
        let first = self.read_names(list);
        if first.is_ok() {
            return first;
        }
        self.flavour = likely.other();
        self.read_names(list).or(first)
    }

    fn read_names(&self, list: &[u8]) -> Result<Vec<String>, EncryptionError> {
        names::parse(&self.decrypt(METADATA_2, list)?)
    }
}
