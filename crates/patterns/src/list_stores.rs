//! The storage of lists of ids: an entity or a blob for each list.

use bytes::Bytes;
use tablerock_client::transport::RESPONSE_BYTES_MAX;
use tablerock_client::{BlobClient, Entity, Error, Etag, Result, TableClient, TableOperation};

use crate::optimistic::unless_conflict;

/// The property with the ids. A long list continues in `Ids1`, `Ids2` and so on.
const IDS: &str = "Ids";
/// Less than the 32 Ki UTF-16 units of a property. An escape of JSON has more units than its bytes, so bytes are counted.
const PIECE_BYTES_MAX: usize = 30_000;
/// As many pieces as fit into the 1 MiB of an entity.
const PIECES_MAX: usize = 16;

/// The storage of a list.
pub trait ListStore: Send + Sync {
    /// Reads the ids and the ETag of the list; `None` if it does not exist.
    fn read(&self) -> impl Future<Output = Result<Option<(Vec<String>, Etag)>>> + Send;

    /// Replaces the version with an ETag, or creates the list if there is none. Returns `None` if the list has changed.
    fn write(&self, ids: &[String], etag: Option<&Etag>) -> impl Future<Output = Result<Option<()>>> + Send;
}

/// A list in an entity, of up to 480,000 bytes of JSON: about 50,000 ids of six digits. A longer list is rejected; a
/// [`BlobList`] holds it.
#[derive(Debug, Clone)]
pub struct EntityList {
    table: TableClient,
    partition_key: String,
    row_key: String,
}

impl EntityList {
    /// Returns the list in the entity with these keys.
    pub fn new(table: TableClient, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self { table, partition_key: partition_key.into(), row_key: row_key.into() }
    }

    pub(crate) fn table(&self) -> &TableClient {
        &self.table
    }

    /// Returns the operation that writes the list, for a transaction.
    pub(crate) fn operation(&self, ids: &[String], etag: Option<&Etag>) -> Result<TableOperation> {
        let text = render(ids)?;
        let pieces = pieces(&text);
        if pieces.len() > PIECES_MAX {
            return Err(Error::Invalid(format!(
                "the list {:?}, {:?} of {} ids has {} bytes, more than the {} of an entity: use a BlobList",
                self.partition_key,
                self.row_key,
                ids.len(),
                text.len(),
                PIECES_MAX * PIECE_BYTES_MAX
            )));
        }
        let entity = Entity::new(&self.partition_key, &self.row_key);
        let named = pieces.into_iter().enumerate();
        let entity = named.fold(entity, |entity, (index, piece)| entity.with(piece_name(index), piece));
        Ok(match etag {
            Some(etag) => TableOperation::replace(&entity).if_match(etag.clone()),
            None => TableOperation::insert(&entity),
        })
    }
}

fn piece_name(index: usize) -> String {
    if index == 0 { IDS.to_owned() } else { format!("{IDS}{index}") }
}

/// Splits a text into pieces for properties.
fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > PIECE_BYTES_MAX {
        let is_boundary = |end: &usize| text.is_char_boundary(*end);
        let end = (0..=PIECE_BYTES_MAX.min(text.len())).rev().find(is_boundary).unwrap_or_default();
        let (piece, rest) = text.split_at(end);
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    pieces
}

fn joined(entity: &Entity) -> Result<String> {
    let mut text: String = entity.property(IDS)?;
    for index in 1.. {
        match entity.property::<Option<String>>(&piece_name(index))? {
            Some(piece) => text.push_str(&piece),
            None => break,
        }
    }
    Ok(text)
}

impl ListStore for EntityList {
    async fn read(&self) -> Result<Option<(Vec<String>, Etag)>> {
        let Some(entity) = self.table.get_if_exists::<Entity>(&self.partition_key, &self.row_key).await? else {
            return Ok(None);
        };
        let ids = parse(joined(&entity)?.as_bytes())?;
        let etag = entity.etag.ok_or_else(|| Error::InvalidResponse("it has no ETag".to_owned()))?;
        Ok(Some((ids, etag)))
    }

    async fn write(&self, ids: &[String], etag: Option<&Etag>) -> Result<Option<()>> {
        let operation = self.operation(ids, etag)?;
        unless_conflict(self.table.transaction().operation(operation).commit().await.map(drop))
    }
}

/// A list in a blob, which is read and written as a whole.
#[derive(Debug, Clone)]
pub struct BlobList {
    blob: BlobClient,
}

impl BlobList {
    /// Returns the list in a blob.
    pub fn new(blob: BlobClient) -> Self {
        Self { blob }
    }
}

impl ListStore for BlobList {
    async fn read(&self) -> Result<Option<(Vec<String>, Etag)>> {
        let Some(content) = self.blob.download_if_exists().await? else { return Ok(None) };
        Ok(Some((parse(&content.content)?, content.etag)))
    }

    async fn write(&self, ids: &[String], etag: Option<&Etag>) -> Result<Option<()>> {
        let text = render(ids)?;
        if text.len() > RESPONSE_BYTES_MAX {
            return Err(Error::Invalid(format!(
                "the list of {} ids has {} bytes, more than the {RESPONSE_BYTES_MAX} that a read returns: use shorter \
                 ids, or index a more selective value",
                ids.len(),
                text.len()
            )));
        }
        let upload = self.blob.upload(Bytes::from(text)).content_type("application/json");
        let upload = match etag {
            Some(etag) => upload.if_match(etag.clone()),
            None => upload.if_not_exists(),
        };
        unless_conflict(upload.await.map(drop))
    }
}

fn render(ids: &[String]) -> Result<String> {
    serde_json::to_string(ids).map_err(|error| Error::Invalid(error.to_string()))
}

fn parse(text: &[u8]) -> Result<Vec<String>> {
    serde_json::from_slice(text).map_err(|error| Error::InvalidResponse(format!("the list of ids is invalid: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_continues_in_further_properties() {
        let text = "é".repeat(PIECE_BYTES_MAX);
        let entity = pieces(&text).into_iter().enumerate();
        let entity = entity.fold(Entity::new("p", "r"), |entity, (index, piece)| entity.with(piece_name(index), piece));
        assert_eq!(entity.properties().len(), 2);
        assert_eq!(joined(&entity).unwrap(), text);
    }
}
