//! Encryption of a table's entities when they are written and read. Without the feature `encryption`, entities pass
//! unchanged, and those with properties marked for encryption are rejected.

use std::borrow::Cow;

use crate::{Entity, Error, Result, TableClient};

/// The number of entities that are encrypted or decrypted concurrently, for keys in a remote service.
pub(super) const ENCRYPTION_CONCURRENCY: usize = 16;

/// The encryption of a table's entities, if any.
#[derive(Debug, Clone, Default)]
pub(super) struct TableEncryption {
    #[cfg(feature = "encryption")]
    policy: Option<std::sync::Arc<crate::encryption::EncryptionPolicy>>,
}

/// Rejects an entity with properties marked for encryption.
fn check_plain(entity: &Entity) -> Result<()> {
    match entity.encrypted_properties().next() {
        Some(name) => Err(Error::invalid(format!(
            "property {name} is marked for encryption, but the table's client has no encryption: call with_encryption"
        ))),
        None => Ok(()),
    }
}

#[cfg(not(feature = "encryption"))]
impl TableEncryption {
    pub(super) async fn encrypt<'e>(&self, entity: &'e Entity, _: bool) -> Result<Cow<'e, Entity>> {
        check_plain(entity).map(|()| Cow::Borrowed(entity))
    }

    pub(super) async fn decrypt(&self, entity: Entity) -> Result<Entity> {
        Ok(entity)
    }

    pub(super) async fn decrypt_all(&self, entities: Vec<Entity>) -> Vec<Result<Entity>> {
        entities.into_iter().map(Ok).collect()
    }

    pub(super) fn selection(&self) -> &'static [&'static str] {
        &[]
    }

    fn selects(&self, _: &str, _: &str, _: &str) -> bool {
        false
    }
}

impl TableClient {
    /// Whether the encryption resolver of this client selects a property of entities with these keys. See also
    /// [`Entity::encrypted_properties`].
    pub fn encrypts(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
        self.encryption.selects(partition_key, row_key, name)
    }
}

#[cfg(feature = "encryption")]
mod with_encryption {
    use std::sync::Arc;

    use futures_util::stream::{self, StreamExt as _};

    use super::*;
    use crate::encryption::{EncryptionError, EncryptionPolicy, METADATA_1, METADATA_2};

    impl TableEncryption {
        /// Returns the entity as it is stored.
        pub(in crate::table) async fn encrypt<'e>(
            &self,
            entity: &'e Entity,
            is_merge: bool,
        ) -> Result<Cow<'e, Entity>> {
            match &self.policy {
                None => check_plain(entity).map(|()| Cow::Borrowed(entity)),
                Some(_) if is_merge => Err(Error::Encryption(EncryptionError::NotAllowed(
                    "a merge would replace the content key of the entity's other encrypted properties: read the entity \
                     and replace it, or merge plain properties through without_encryption"
                        .to_owned(),
                ))),
                Some(policy) => Ok(Cow::Owned(policy.encrypt(entity).await?)),
            }
        }

        /// Returns the entity as it was written.
        pub(in crate::table) async fn decrypt(&self, entity: Entity) -> Result<Entity> {
            match &self.policy {
                Some(policy) => Ok(policy.decrypt(entity).await?),
                None => Ok(entity),
            }
        }

        pub(in crate::table) async fn decrypt_all(&self, entities: Vec<Entity>) -> Vec<Result<Entity>> {
            if self.policy.is_none() {
                return entities.into_iter().map(Ok).collect();
            }
            let decrypted = stream::iter(entities).map(|entity| self.decrypt(entity));
            decrypted.buffered(ENCRYPTION_CONCURRENCY).collect().await
        }

        /// Returns the properties that decryption needs in a projection.
        pub(in crate::table) fn selection(&self) -> &'static [&'static str] {
            match &self.policy {
                Some(_) => &[METADATA_1, METADATA_2],
                None => &[],
            }
        }

        pub(super) fn selects(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
            self.policy.as_ref().is_some_and(|policy| policy.selects(partition_key, row_key, name))
        }
    }

    impl TableClient {
        /// Returns a client of the table that encrypts entities when it writes and decrypts them when it reads; see
        /// [`encryption`](crate::encryption). Wrapping and unwrapping a key have the timeout of an attempt.
        #[must_use]
        pub fn with_encryption(&self, policy: EncryptionPolicy) -> Self {
            let policy = policy.with_timeout(self.pipeline.attempt_timeout());
            Self { encryption: TableEncryption { policy: Some(Arc::new(policy)) }, ..self.clone() }
        }

        /// Returns a client of the table that reads encrypted properties as bytes.
        #[must_use]
        pub fn without_encryption(&self) -> Self {
            Self { encryption: TableEncryption::default(), ..self.clone() }
        }

        pub(crate) fn encryption_policy(&self) -> Option<&EncryptionPolicy> {
            self.encryption.policy.as_deref()
        }
    }
}
