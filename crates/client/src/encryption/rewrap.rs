//! Key rotation: wraps the content key of an entity with another key.

use tablerock_protocol::Value;

use super::error::{damaged, not_allowed};
use super::metadata::EncryptionData;
use super::{EncryptionError, METADATA_1};
use crate::entity::AsKey;
use crate::request::{Exchange, Operation};
use crate::{Entity, Keyed, Request, Result, TableClient};

/// The attempts of a rotation: each fails if another writer changes the entity.
const ATTEMPTS_MAX: usize = 40;

/// The rotation of the key of one entity.
#[derive(Debug, Clone)]
pub struct RewrapKey {
    table: TableClient,
    partition_key: String,
    row_key: String,
}

impl TableClient {
    /// Wraps an entity's content key with the key of this client's policy instead of its current key, which the
    /// [key resolver](crate::encryption::EncryptionPolicy::key_resolver) has to know. Returns whether it changed the
    /// entity: a plain entity, and one that has the key already, stay unchanged.
    ///
    /// The call only changes the wrapping, by a conditional merge. It costs one small read and one small write for an
    /// entity of any size.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::encryption::{AesKey, EncryptionPolicy, KeyRing};
    /// # use tablerock_client::{Entity, Keyed, TableEntity, TryStreamExt};
    /// # let (old, new) = (AesKey::new("2025", &[1; 32])?, AesKey::new("2026", &[2; 32])?);
    /// # people.with_encryption(EncryptionPolicy::new(old.clone())).insert(&Entity::new("Sales", "00003")).await?;
    /// # let people = people.with_encryption(EncryptionPolicy::new(new).key_resolver(KeyRing::new().with(old)));
    /// # let mut count = 0;
    /// #[derive(TableEntity)]
    /// struct KeysOnly {}
    ///
    /// // Listing the keys needs no decryption.
    /// let mut all = people.without_encryption().query::<Keyed<KeysOnly>>().stream();
    /// while let Some(entity) = all.try_next().await? {
    ///     let is_rewrapped = people.rewrap_key(&entity.partition_key, &entity.row_key).await?;
    /// #   count += usize::from(is_rewrapped);
    /// }
    /// # assert_eq!(count, 1);
    /// # Ok(()) });
    /// ```
    pub fn rewrap_key(&self, partition_key: impl AsKey, row_key: impl AsKey) -> Request<bool, RewrapKey> {
        let (partition_key, row_key) = (partition_key.as_key().into_owned(), row_key.as_key().into_owned());
        Request::new(RewrapKey { table: self.clone(), partition_key, row_key })
    }
}

impl Operation<bool> for RewrapKey {
    async fn perform(self, exchange: &mut Exchange) -> Result<bool> {
        let Self { table, partition_key, row_key } = &self;
        let policy = table.encryption_policy();
        let policy = policy.ok_or_else(|| not_allowed("the table's client has no encryption: call with_encryption"))?;
        let plain = table.without_encryption();
        let mut may_be_done = false;
        for _ in 0..ATTEMPTS_MAX {
            let Some(stored) = read_metadata(&plain, &self, exchange).await? else { return Ok(false) };
            let mut data = EncryptionData::parse(&stored.value)?;
            if data.wrapped_content_key.key_id == policy.key.id() {
                return Ok(may_be_done);
            }
            let content_key = policy.unwrap(&data.wrapped_content_key).await?;
            data.wrapped_content_key = policy.wrap(&content_key).await?;
            let mut change = Entity::new(partition_key, row_key).with(METADATA_1, data.to_text());
            change.etag = stored.etag;
            match plain.merge(&change).kind.perform(exchange).await {
                Ok(_) => return Ok(true),
                // Another writer was faster, or the response to this merge was lost. Reading again shows which.
                Err(error) if error.is_precondition_failed() => may_be_done |= error.is_ambiguous(),
                Err(error) => return Err(error),
            }
        }
        Err(not_allowed(format!(
            "the entity {partition_key:?}, {row_key:?} changed during each of {ATTEMPTS_MAX} attempts to rewrap its key"
        ))
        .into())
    }
}

async fn read_metadata(
    plain: &TableClient,
    RewrapKey { partition_key, row_key, .. }: &RewrapKey,
    exchange: &mut Exchange,
) -> Result<Option<Keyed<String>>> {
    let read = plain.get_selected_properties(partition_key, row_key, &[METADATA_1]);
    let mut stored = read.kind.perform(exchange).await?;
    let value = match stored.remove(METADATA_1) {
        Some(Value::String(text)) => text.into_owned(),
        Some(_) => return Err(EncryptionError::into(damaged("its metadata has the wrong type"))),
        None => return Ok(None),
    };
    let Entity { partition_key, row_key, timestamp, etag, .. } = stored;
    Ok(Some(Keyed { partition_key, row_key, timestamp, etag, value }))
}
