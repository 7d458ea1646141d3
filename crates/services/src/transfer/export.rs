//! An account as text: one JSON object a line, in the order of names and keys, with nothing in it that depends on which store
//! it came from. So the same data is the same text, byte for byte.
//!
//! ```text
//! {"account":"…"}
//! {"settings":"table-service-properties","xml":"…"}
//! {"table":"People","policies":"…"}            then its entities:
//! {"entity":{"PartitionKey":"…",…}}            as the service writes them with odata=minimalmetadata
//! {"queue":"jobs","metadata":{…},"policies":"…"}   then its messages:
//! {"message":{"id":"…","inserted":"…","expires":"…","visible":"…","dequeueCount":0,"text":"…"}}
//! {"container":"photos","changed":"…","publicAccess":"…","metadata":{…},"policies":"…"}   then its blobs:
//! {"blob":{"name":"…",…}}                      and snapshots before each; behind each what Get Block List shows of it:
//! {"committed":{"id":"…","length":0}}          and then its bytes:
//! {"content":"…"}                              up to 192 KiB in Base64
//! {"pages":{"offset":0,"length":512}}          pages of a page blob, and behind them their bytes
//! {"block":{"blob":"…","id":"…"}}              an uncommitted block, and behind it its bytes
//! ```

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tablerock_kv::key::key_bytes_to_text;
use tablerock_kv::{Bytes, Error, Record, Result, Store};
use tablerock_protocol::blob::ContentMd5;
use tablerock_protocol::json::{EntityShape, Location, append_entity, append_json_string};
use tablerock_protocol::{DateTime, MetadataLevel, Select};

use super::named_objects::{NamedObject, named_objects, settings};
use crate::blob::{self, BlobBytes, Container, Makeup};
use crate::namespace::Namespace;
use crate::queue::QueueRecord;
use crate::table::{StoredEntity, TableRecord};
use crate::{queue, table};

/// Bytes of content in one line; a multiple of three, so that only the last line of a content is padded.
const CONTENT_BYTES: usize = 192 << 10;

/// Where the text goes.
pub trait ExportSink {
    /// Takes some lines.
    fn write(&mut self, lines: &[u8]) -> std::io::Result<()>;
}

impl<W: std::io::Write> ExportSink for W {
    fn write(&mut self, lines: &[u8]) -> std::io::Result<()> {
        self.write_all(lines)
    }
}

/// Writes all that an account has. What is written to it meanwhile may be in the text or not.
pub async fn export_account(store: &Store, account: &str, sink: &mut (dyn ExportSink + Send)) -> Result<()> {
    let mut export = Export { store, account, sink, lines: Vec::new() };
    export.line().text("account", account).end();
    for (key, xml) in settings(store, account).await? {
        let (key, xml) = (String::from_utf8_lossy(&key).into_owned(), String::from_utf8_lossy(&xml).into_owned());
        export.line().text("settings", &key).text("xml", &xml).end();
    }
    for kind in Namespace::ALL {
        for object in named_objects(store, account, kind).await? {
            match kind {
                Namespace::Tables => export.table(&object).await?,
                Namespace::Queues => export.queue(&object).await?,
                Namespace::Containers => export.container(&object).await?,
            }
        }
    }
    export.flush()
}

struct Export<'a> {
    store: &'a Store,
    account: &'a str,
    sink: &'a mut (dyn ExportSink + Send),
    /// Not yet handed on.
    lines: Vec<u8>,
}

impl Export<'_> {
    fn line(&mut self) -> Line<'_> {
        Line::begin(&mut self.lines)
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.sink.write(&self.lines);
        self.lines.clear();
        written.map_err(|error| Error::unavailable("the export could not be written").with_source(error))
    }

    async fn table(&mut self, object: &NamedObject) -> Result<()> {
        let TableRecord { name, policies, .. } = TableRecord::decode(&object.row)?;
        self.line().text("table", &name).text("policies", &String::from_utf8_lossy(&policies)).end();
        let (account, select) = (self.account, Select::default());
        let location = Location { base: "", account, table: &name };
        let shape = EntityShape { location, level: MetadataLevel::Minimal, select: &select };
        let mut pages = self.store.records(object.records());
        while let Some(records) = pages.next_page().await? {
            for record in records {
                let partition_key = key_bytes_to_text(table::keys::partition_key_of(&record.partition)?)?.into_owned();
                let row_key = key_bytes_to_text(&record.key)?.into_owned();
                let entity = StoredEntity::open(record.value)?;
                let (out, timestamp) = (&mut self.lines, entity.timestamp());
                out.extend_from_slice(b"{\"entity\":");
                entity.read(|properties| {
                    append_entity(out, &shape, false, &partition_key, &row_key, timestamp, properties);
                })?;
                self.lines.extend_from_slice(b"}\n");
            }
            self.flush()?;
        }
        Ok(())
    }

    async fn queue(&mut self, object: &NamedObject) -> Result<()> {
        let QueueRecord { metadata, policies, .. } = QueueRecord::decode(&object.row)?;
        let (name, policies) = (name_of(object), String::from_utf8_lossy(&policies));
        self.line().text("queue", &name).pairs("metadata", metadata.pairs()).text("policies", &policies).end();
        let mut pages = self.store.records(queue::keys::messages_only(object.id));
        while let Some(records) = pages.next_page().await? {
            for record in records {
                let message = queue::opened(&record.key, &record.value)?;
                let mut line = self.line();
                line.open("message").text("id", &message.id.to_string());
                line.time("inserted", message.inserted).time("expires", message.expires);
                line.time("visible", DateTime::from_ticks(message.receipt.visible));
                line.number("dequeueCount", message.dequeue_count.into()).text("text", &message.text).close();
                line.end();
            }
            self.flush()?;
        }
        Ok(())
    }

    async fn container(&mut self, object: &NamedObject) -> Result<()> {
        let container = Container::decode(&object.row)?;
        let name = name_of(object);
        let mut line = self.line();
        line.text("container", &name).time("changed", container.changed);
        line.text("publicAccess", container.public_access.name().unwrap_or_default());
        line.pairs("metadata", container.metadata.pairs())
            .text("policies", &String::from_utf8_lossy(&container.policies));
        line.end();
        let mut pages = self.store.records(object.records());
        while let Some(records) = pages.next_page().await? {
            for record in records {
                self.blob_record(object.id, &record).await?;
            }
            self.flush()?;
        }
        Ok(())
    }

    async fn blob_record(&mut self, container_id: u64, record: &Record) -> Result<()> {
        use blob::keys::BlobKey;
        let name = blob::keys::blob_name_of(&record.partition)?;
        match blob::keys::blob_key_of(&record.key)? {
            // Which layouts there are depends on the store; what is in them comes with their blob.
            BlobKey::Blocks | BlobKey::Pieces | BlobKey::Layer | BlobKey::PageMap | BlobKey::Pages => Ok(()),
            BlobKey::Snapshot(ticks) => self.blob(container_id, &name, record, Some(DateTime::from_ticks(ticks))).await,
            BlobKey::Base => self.blob(container_id, &name, record, None).await,
            BlobKey::Block => {
                let (id, content, length) = blob::block_of(record)?;
                let mut line = self.line();
                line.open("block").text("blob", &name).text("id", &id).close();
                line.end();
                self.contents(container_id, vec![BlobBytes::Stored { content, length }]).await
            }
        }
    }

    async fn blob(&mut self, container_id: u64, name: &str, record: &Record, taken: Option<DateTime>) -> Result<()> {
        let blob = blob::Blob::decode(&record.value)?;
        let mut line = self.line();
        line.open("blob").text("name", name);
        if let Some(taken) = taken {
            line.time("snapshot", taken);
        }
        line.text("type", blob.kind.name());
        line.time("changed", blob.changed).time("created", blob.created).number("length", blob.length);
        line.number("blocks", blob.blocks).number("sealed", blob.is_sealed.into());
        if let Ok(pages) = blob.pages() {
            line.number("sequenceNumber", pages.sequence_number());
        }
        let headers = &blob.headers;
        line.text("contentType", headers.content_type.stored());
        for (field, value) in [
            ("contentEncoding", &headers.encoding),
            ("contentLanguage", &headers.language),
            ("contentDisposition", &headers.disposition),
            ("cacheControl", &headers.cache_control),
        ] {
            line.text(field, value);
        }
        line.text("contentMD5", &headers.md5.as_ref().map_or_else(String::new, ContentMd5::to_base64));
        line.pairs("metadata", blob.metadata.pairs()).pairs("tags", blob.tags.pairs());
        // What is being rehydrated is still archived: the time of an export would make equal data differ.
        line.text("tier", blob.tier.as_ref().map_or("", |tier| &tier.name));
        if let Some(tier) = &blob.tier {
            line.time("tierChanged", tier.changed);
        }
        if let Some(digest) = blob.key_digest {
            // The content follows as it is stored, encrypted.
            line.text("customerKeySha256", &digest.to_base64());
        }
        if let Some(copy) = &blob.copy {
            line.open("copy").text("id", &copy.id).text("source", copy.source.as_str());
            line.time("completed", copy.completed).close();
        }
        line.close();
        line.end();
        let makeup = Makeup::of(self.store, &record.partition, &blob).await?;
        for (id, length) in &makeup.blocks {
            let mut line = self.line();
            line.open("committed").text("id", id).number("length", *length).close();
            line.end();
        }
        self.contents(container_id, makeup.held).await?;
        let store = self.store;
        let take = async |offset: u64, bytes: Bytes| {
            let mut line = self.line();
            line.open("pages").number("offset", offset).number("length", bytes.len() as u64).close();
            line.end();
            self.line().text("content", &BASE64_STANDARD.encode(&bytes)).end();
            self.flush()
        };
        blob::read_blob_pages(store, record, &blob, take).await
    }

    /// Bytes in lines of one length, wherever the store has cut them.
    async fn contents(&mut self, container_id: u64, held: Vec<BlobBytes>) -> Result<()> {
        let mut buffer = Vec::new();
        for held in held {
            match held {
                BlobBytes::Inline(bytes) => self.content(&mut buffer, &bytes)?,
                BlobBytes::Stored { content, length } => {
                    let store = self.store;
                    let take = async |bytes: Bytes| self.content(&mut buffer, &bytes);
                    blob::read_content(store, (container_id, content), length, take).await?;
                }
            }
        }
        if !buffer.is_empty() {
            self.line().text("content", &BASE64_STANDARD.encode(&buffer)).end();
        }
        Ok(())
    }

    fn content(&mut self, buffer: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
        buffer.extend_from_slice(bytes);
        let whole = buffer.len() - buffer.len() % CONTENT_BYTES;
        for part in buffer[..whole].chunks(CONTENT_BYTES) {
            Line::begin(&mut self.lines).text("content", &BASE64_STANDARD.encode(part)).end();
        }
        buffer.drain(..whole);
        if whole > 0 { self.flush() } else { Ok(()) }
    }
}

/// Names of queues and containers are their keys.
fn name_of(object: &NamedObject) -> String {
    String::from_utf8_lossy(&object.key).into_owned()
}

/// A line that is being written.
struct Line<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Line<'a> {
    fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    fn member(&mut self, name: &str) -> &mut Self {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        append_json_string(self.out, name);
        self.out.push(b':');
        self
    }

    fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.member(name);
        append_json_string(self.out, value);
        self
    }

    fn number(&mut self, name: &str, value: u64) -> &mut Self {
        self.member(name);
        self.out.extend_from_slice(value.to_string().as_bytes());
        self
    }

    fn time(&mut self, name: &str, value: DateTime) -> &mut Self {
        self.text(name, &value.to_seven_digits())
    }

    fn pairs(&mut self, name: &str, pairs: &[(String, String)]) -> &mut Self {
        self.open(name);
        for (name, value) in pairs {
            self.text(name, value);
        }
        self.close()
    }

    fn open(&mut self, name: &str) -> &mut Self {
        self.member(name);
        self.out.push(b'{');
        self.is_empty = true;
        self
    }

    fn close(&mut self) -> &mut Self {
        self.out.push(b'}');
        self.is_empty = false;
        self
    }

    fn end(&mut self) {
        self.out.extend_from_slice(b"}\n");
    }
}
