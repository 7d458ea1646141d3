//! The seam between a table and encryption: what happens to entities on their way out and in. Without the feature
//! `encryption` it lets everything through, except what is marked to be encrypted.

use std::borrow::Cow;

use crate::{Entity, Error, Result, TableClient};

/// Entities that are encrypted or decrypted side by side, which matters when the keys are in a service.
pub(super) const SEALED_TOGETHER: usize = 16;

/// Whether and how a table's entities are encrypted. The default is that they are not.
#[derive(Debug, Clone, Default)]
pub(super) struct Sealing {
    #[cfg(feature = "encryption")]
    encryption: Option<std::sync::Arc<crate::encryption::Encryption>>,
}

/// Without encryption nothing is written that is to be encrypted.
fn check_plain(entity: &Entity) -> Result<()> {
    match entity.encrypted().next() {
        Some(name) => Err(Error::invalid(format!(
            "property {name} is to be encrypted, and the table's client has no encryption: see with_encryption"
        ))),
        None => Ok(()),
    }
}

#[cfg(not(feature = "encryption"))]
impl Sealing {
    pub(super) async fn seal<'e>(&self, entity: &'e Entity, _: bool) -> Result<Cow<'e, Entity>> {
        check_plain(entity).map(|()| Cow::Borrowed(entity))
    }

    pub(super) async fn open(&self, entity: Entity) -> Result<Entity> {
        Ok(entity)
    }

    pub(super) async fn open_all(&self, entities: Vec<Entity>) -> Vec<Result<Entity>> {
        entities.into_iter().map(Ok).collect()
    }

    pub(super) fn selection<'s>(&self, select: &'s str) -> Cow<'s, str> {
        Cow::Borrowed(select)
    }

    fn is_chosen(&self, _: &str, _: &str, _: &str) -> bool {
        false
    }
}

impl TableClient {
    /// Whether this client encrypts a property of whatever entity it writes under these keys: whether the resolver of
    /// its encryption, if it has one, says so. What an entity itself marks, [`Entity::encrypted`] tells.
    pub fn encrypts(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
        self.sealing.is_chosen(partition_key, row_key, name)
    }
}

#[cfg(feature = "encryption")]
mod with_encryption {
    use std::sync::Arc;

    use futures_util::stream::{self, StreamExt as _};

    use super::*;
    use crate::encryption::{Encryption, EncryptionError, METADATA_1, METADATA_2};

    impl Sealing {
        /// The entity as it is stored.
        pub(in crate::table) async fn seal<'e>(&self, entity: &'e Entity, is_merge: bool) -> Result<Cow<'e, Entity>> {
            match &self.encryption {
                None => check_plain(entity).map(|()| Cow::Borrowed(entity)),
                Some(_) if is_merge => Err(Error::Encryption(EncryptionError::Refused(
                    "an encrypted entity is not merged into: its other properties would stay encrypted with a key that \
                     the merge replaces. Read it and replace it; properties that are not encrypted can be merged \
                     through without_encryption"
                        .to_owned(),
                ))),
                Some(encryption) => Ok(Cow::Owned(encryption.seal(entity).await?)),
            }
        }

        /// The entity as it was before it was stored.
        pub(in crate::table) async fn open(&self, entity: Entity) -> Result<Entity> {
            match &self.encryption {
                Some(encryption) => Ok(encryption.open(entity).await?),
                None => Ok(entity),
            }
        }

        pub(in crate::table) async fn open_all(&self, entities: Vec<Entity>) -> Vec<Result<Entity>> {
            if self.encryption.is_none() {
                return entities.into_iter().map(Ok).collect();
            }
            let opened = stream::iter(entities).map(|entity| self.open(entity));
            opened.buffered(SEALED_TOGETHER).collect().await
        }

        /// A projection that brings what decrypting needs.
        pub(in crate::table) fn selection<'s>(&self, select: &'s str) -> Cow<'s, str> {
            match &self.encryption {
                Some(_) => Cow::Owned(format!("{select},{METADATA_1},{METADATA_2}")),
                None => Cow::Borrowed(select),
            }
        }

        pub(super) fn is_chosen(&self, partition_key: &str, row_key: &str, name: &str) -> bool {
            let encryption = self.encryption.as_ref();
            encryption.is_some_and(|encryption| encryption.is_chosen(partition_key, row_key, name))
        }
    }

    impl TableClient {
        /// The same table, whose entities are encrypted when they are written and decrypted when they are read; see
        /// [`encryption`](crate::encryption). A key has as much time to wrap and unwrap as a try of a request has.
        #[must_use]
        pub fn with_encryption(&self, encryption: Encryption) -> Self {
            let encryption = encryption.within(self.pipeline.try_time_max());
            self.with_sealing(Sealing { encryption: Some(Arc::new(encryption)) })
        }

        /// The same table as it is stored: encrypted properties are bytes.
        #[must_use]
        pub fn without_encryption(&self) -> Self {
            self.with_sealing(Sealing::default())
        }

        pub(crate) fn encryption(&self) -> Option<&Encryption> {
            self.sealing.encryption.as_deref()
        }
    }
}
