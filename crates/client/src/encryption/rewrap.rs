//! Key rotation: the content key wrapped anew, the values untouched.

use tablerock_protocol::Value;

use super::error::{damaged, refused};
use super::metadata::EncryptionData;
use super::{EncryptionError, METADATA_1};
use crate::{Entity, Keyed, Result, TableClient};

/// How often an entity may change under a rotation before it gives up: each time somebody else has got on.
const TRIES_MAX: usize = 40;

impl TableClient {
    /// Wraps an entity's content key with the key that this client encrypts with, in the place of the one that it is
    /// wrapped with now, which the client's [`keys`](crate::encryption::Encryption::keys) have to know. Returns whether
    /// there was anything to do: an entity that is not encrypted, or has the key already, is left alone.
    ///
    /// This is the one merge that encryption allows. It changes the wrapping only, so it costs one small read and one
    /// small write however large the entity is, and it holds against the version that was read.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::encryption::{AesKey, Encryption, KeyRing};
    /// # use tablerock_client::{Entity, Keyed, TableEntity, TryStreamExt};
    /// # let (old, new) = (AesKey::new("2025", &[1; 32])?, AesKey::new("2026", &[2; 32])?);
    /// # people.with_encryption(Encryption::new(old.clone())).insert(&Entity::new("Sales", "00003")).await?;
    /// # let people = people.with_encryption(Encryption::new(new).keys(KeyRing::new().with(old)));
    /// # let mut count = 0;
    /// #[derive(TableEntity)]
    /// struct KeysOnly {}
    ///
    /// // Nothing has to be decrypted to be listed.
    /// let mut all = people.without_encryption().query::<Keyed<KeysOnly>>().select::<Keyed<KeysOnly>>().stream();
    /// while let Some(entity) = all.try_next().await? {
    ///     let was_wrapped = people.rewrap_key(&entity.partition_key, &entity.row_key).await?;
    /// #   count += usize::from(was_wrapped);
    /// }
    /// # assert_eq!(count, 1);
    /// # Ok(()) });
    /// ```
    pub async fn rewrap_key(&self, partition_key: &str, row_key: &str) -> Result<bool> {
        let encryption = self.encryption().ok_or_else(|| refused("the table's client has no encryption"))?;
        let plain = self.without_encryption();
        let mut may_be_done = false;
        for _ in 0..TRIES_MAX {
            let Some(stored) = plain.read_metadata(partition_key, row_key).await? else { return Ok(false) };
            let mut data = EncryptionData::parse(&stored.value)?;
            if data.wrapped_content_key.key_id == encryption.key.id() {
                return Ok(may_be_done);
            }
            let content_key = encryption.unwrap(&data.wrapped_content_key).await?;
            data.wrapped_content_key = encryption.wrap(&content_key).await?;
            let mut change = Entity::new(partition_key, row_key).with(METADATA_1, data.to_text());
            change.etag = stored.etag;
            match plain.merge(&change).await {
                Ok(_) => return Ok(true),
                // Somebody has written meanwhile; or it was this merge, whose answer was lost. Reading again tells.
                Err(error) if error.is_changed() => may_be_done |= error.is_ambiguous(),
                Err(error) => return Err(error),
            }
        }
        Err(refused(format!("the entity has changed {TRIES_MAX} times while its key was wrapped anew")).into())
    }

    async fn read_metadata(&self, partition_key: &str, row_key: &str) -> Result<Option<Keyed<String>>> {
        let mut stored = self.get_properties(partition_key, row_key, &[METADATA_1]).await?;
        let value = match stored.remove(METADATA_1) {
            Some(Value::String(text)) => text.into_owned(),
            Some(_) => return Err(EncryptionError::into(damaged("its metadata has another type"))),
            None => return Ok(None),
        };
        let Entity { partition_key, row_key, timestamp, etag, .. } = stored;
        Ok(Some(Keyed { partition_key, row_key, timestamp, etag, value }))
    }
}
