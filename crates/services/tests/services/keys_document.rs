//! The examples of `docs/keys.md` and `docs/formats.md` are what the code writes.
//!
//! Blocks marked `keys` hold examples: a call, and below it the fields that the call has, as hex in which blanks
//! mean nothing. Each is computed again from the real functions. The block marked `store` is a whole store after
//! the few requests of [`a_small_store`], record by record.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use tablerock_kv::key::{KeyBuilder, KeyReader, physical};
use tablerock_kv::{Bytes, ManualClock, Position, Range, Rng, ScanLimits, Store};
use tablerock_protocol::blob::{ContentHeaders, ContentType, Tags};
use tablerock_protocol::xml::ServicePropertiesUpdate;
use tablerock_protocol::{DateTime, Metadata, Property, QueueName, Service, TableName, Uuid, Value};
use tablerock_services::blob::keys as blob_keys;
use tablerock_services::blob::{BlobAddress, BlobKind, NewBlob, PublicAccess, WriteTerms};
use tablerock_services::namespace::{self, Namespace};
use tablerock_services::queue::keys as queue_keys;
use tablerock_services::queue::{NewMessage, TimeToLive};
use tablerock_services::table::keys as table_keys;
use tablerock_services::table::{Change, EntityGroup, EntityOperation, Properties};
use tablerock_services::{AccountService, BlobService, QueueService, TableService, ThrottleTargets, keys};

const ACCOUNT: &str = "devstoreaccount1";

#[test]
fn every_key_in_the_document_is_the_one_that_the_code_builds() {
    let examples = examples(&document("keys.md"));
    for example in &examples {
        assert_eq!(example.fields, example.computed(), "{}{:?}", example.name, example.arguments);
    }
    let shown: BTreeSet<_> = examples.iter().map(|example| example.name.as_str()).collect();
    let wanted = [
        "blob",
        "blob_service_properties",
        "blob_timestamp_ceiling",
        "block",
        "blocks",
        "bytes",
        "chunk",
        "container",
        "container_tombstone",
        "count",
        "copy_checkpoint",
        "dated_reclaim_intent",
        "tombstone",
        "layer",
        "layer_merge",
        "lease_of_queue_sweep",
        "load_of_server",
        "entity",
        "expiry",
        "reclaim_intent",
        "message",
        "next_container_id",
        "next_content_id",
        "next_message_number",
        "next_queue_id",
        "next_table_id",
        "note_of_dropped_table",
        "number",
        "page_map",
        "pages",
        "pieces",
        "queue",
        "queue_tombstone",
        "queue_time",
        "range_of_container_blobs",
        "range_of_container_contents",
        "range_of_container_tags",
        "range_of_queue",
        "range_of_table",
        "snapshot",
        "table",
        "table_service_properties",
        "queue_service_properties",
        "text",
        "timestamp_ceiling",
        "timestamp_lane",
        "usage",
        "block_watch",
        "tag",
        "tag_index_state",
    ];
    assert_eq!(shown, BTreeSet::from(wanted), "each kind of key has its example");
}

#[tokio::test]
async fn the_document_shows_every_record_of_a_small_store() {
    let documented = records_in(&document("formats.md"));
    let stored = a_small_store().await;
    let shown = |records: &BTreeMap<Vec<u8>, Vec<u8>>| -> Vec<String> {
        records.iter().map(|(key, value)| format!("{} => {}", hex(key), hex(value))).collect()
    };
    assert_eq!(shown(&documented), shown(&stored));
}

/// Creates a table, inserts an entity with a property of every type and sets the service's properties; creates a queue,
/// puts a message and gets it; creates a container and puts a blob. On New Year's Day 2026 at midnight.
async fn a_small_store() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let midnight = DateTime::parse("2026-01-01").unwrap();
    let store = Store::in_memory();
    let clock = Arc::new(ManualClock::at(midnight.ticks()));
    let tables = TableService::open(store.clone(), clock.clone(), ThrottleTargets::default()).await.unwrap();
    tables.create_table(ACCOUNT, &TableName::parse("People").unwrap()).await.unwrap();
    let property = |name: &'static str, value| Property { name: name.into(), value };
    let properties = [
        property("s", Value::String("é".into())),
        property("i", Value::Int32(-2)),
        property("l", Value::Int64(3)),
        property("d", Value::Double(1.5)),
        property("b", Value::Boolean(true)),
        property("t", Value::DateTime(midnight)),
        property("g", Value::Guid(Uuid::from_bytes([0x11; 16]))),
        property("x", Value::Binary(vec![0xca, 0xfe].into())),
    ];
    let insert = EntityOperation {
        table: "people".to_owned(),
        partition_key: "Sales".to_owned(),
        row_key: "00001".to_owned(),
        change: Change::Insert(Properties::encode(&properties)),
    };
    tables.apply(ACCOUNT, &EntityGroup::single(insert)).await.unwrap();
    let update = ServicePropertiesUpdate { cors: Some(vec![]), ..ServicePropertiesUpdate::default() };
    AccountService::new(store.clone()).set_service_properties(ACCOUNT, Service::Table, &update).await.unwrap();

    let queues = QueueService::open(store.clone(), clock.clone(), Rng::seeded(1)).await.unwrap();
    let jobs = QueueName::parse("jobs").unwrap();
    let metadata = Metadata::new(vec![("Color".to_owned(), "red".to_owned())]).unwrap();
    queues.create_queue(ACCOUNT, &jobs, &metadata).await.unwrap();
    let message =
        NewMessage { text: "é".to_owned(), visibility_seconds: 0, time_to_live: TimeToLive::Seconds(7 * 24 * 3600) };
    queues.put_message(ACCOUNT, &jobs, message).await.unwrap();
    queues.get_messages(ACCOUNT, &jobs, 1, 30).await.unwrap();

    let blobs = BlobService::open(store.clone(), clock, Rng::seeded(1)).await.unwrap();
    blobs.create_container(ACCOUNT, "photos", &metadata, PublicAccess::Blob).await.unwrap();
    let at = BlobAddress { account: ACCOUNT, container: "photos", name: "a/b" };
    let received = blobs.receive_blob(at, &mut Some(Bytes::from_static(b"abc")), true).await.unwrap();
    let headers = ContentHeaders {
        content_type: ContentType::of_new(Some("text/plain")),
        md5: received.digests.md5.map(Into::into),
        ..ContentHeaders::default()
    };
    let new = NewBlob { kind: BlobKind::Block, headers, metadata, tags: Tags::default(), tier: None };
    blobs.put_blob(at, &WriteTerms::default(), &new, received).await.unwrap();

    let everything = Range { start: Position::start_of(Bytes::new()), end: None };
    let limits = ScanLimits { records_max: 1000, bytes_max: 1 << 20, deadline: None };
    let records = store.scan(&everything, limits).await.unwrap().records;
    records.iter().map(|record| (physical::encode(&record.partition, &record.key), record.value.to_vec())).collect()
}

/// The records of a document's `store` blocks. A record is `key => value`; indented lines go on with the value, which
/// is hex with remarks behind `#`, or text if it begins with `<`.
fn records_in(document: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut records: Vec<(Vec<u8>, String)> = Vec::new();
    for line in blocks(document, "store").iter().flat_map(|block| block.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        match line.split_once("=>") {
            Some((key, value)) => records.push((bytes_of(key), value.trim().to_owned())),
            None if line.trim().is_empty() => {}
            None => records.last_mut().expect("a value belongs to a key").1.push_str(line.trim()),
        }
    }
    let value = |text: String| if text.starts_with('<') { text.into_bytes() } else { bytes_of(&text) };
    records.into_iter().map(|(key, text)| (key, value(text))).collect()
}

type Fields = BTreeMap<String, Vec<u8>>;

/// A call and what it is said to give.
struct Example {
    name: String,
    arguments: Vec<Argument>,
    fields: Fields,
}

#[derive(Debug)]
enum Argument {
    Number(u64),
    Text(String),
}

impl Example {
    /// The same fields, from the code.
    fn computed(&self) -> Fields {
        use Argument::{Number, Text};
        match (self.name.as_str(), self.arguments.as_slice()) {
            ("number", [Number(number)]) => fields([("bytes", &KeyBuilder::new().number(*number).finish())]),
            ("text", [Text(text)]) => fields([("bytes", &KeyBuilder::new().text(text).finish())]),
            ("bytes", [Text(hex)]) => fields([("bytes", &KeyBuilder::new().bytes(&bytes_of(hex)).finish())]),
            ("timestamp_ceiling", []) => record(&keys::system_partition(), table_keys::TIMESTAMP_CEILING),
            ("timestamp_lane", [Number(lane)]) => {
                let key = keys::timestamp_lane_key(table_keys::TIMESTAMP_CEILING, u8::try_from(*lane).unwrap());
                record(&keys::system_partition(), &key)
            }
            ("load_of_server", [Argument::Number(server)]) => {
                record(&keys::system_partition(), &keys::load_key(*server))
            }
            ("lease_of_queue_sweep", []) => record(&keys::system_partition(), keys::QUEUE_SWEEP_LEASE),
            ("copy_checkpoint", [Text(account)]) => {
                record(&keys::system_partition(), &keys::copy_checkpoint_key(account))
            }
            ("next_table_id", []) => record(&keys::system_partition(), table_keys::NEXT_TABLE_ID),
            ("table_service_properties", [Text(account)]) => {
                record(&keys::account_partition(account), keys::service_properties_key(Service::Table))
            }
            ("queue_service_properties", [Text(account)]) => {
                record(&keys::account_partition(account), keys::service_properties_key(Service::Queue))
            }
            ("blob_service_properties", [Text(account)]) => {
                record(&keys::account_partition(account), keys::service_properties_key(Service::Blob))
            }
            ("table", [Text(account), Text(name)]) => {
                let folded = TableName::parse(name).unwrap().folded();
                record(&Namespace::Tables.directory(account), &namespace::row_key(&folded))
            }
            ("tombstone", [Text(account), Number(table)]) => {
                record(&Namespace::Tables.directory(account), &namespace::tombstone_key(*table))
            }
            ("entity", [Number(table), Text(partition_key), Text(row_key)]) => {
                let partition = table_keys::entity_partition(*table, partition_key);
                let key_form = table_keys::partition_key_of(&partition).unwrap().to_vec();
                assert_eq!(table_keys::entity_partition_from(*table, &key_form), partition);
                record(&partition, &table_keys::entity_key(row_key))
            }
            ("range_of_table", [Number(table)]) => range(&table_keys::table_range(*table)),
            ("next_queue_id", []) => record(&keys::system_partition(), queue_keys::NEXT_QUEUE_ID),
            ("next_message_number", []) => record(&keys::system_partition(), queue_keys::NEXT_MESSAGE_NUMBER),
            ("queue_time", []) => record(&keys::system_partition(), queue_keys::QUEUE_TIME),
            ("queue", [Text(account), Text(name)]) => {
                record(&Namespace::Queues.directory(account), &namespace::row_key(name))
            }
            ("queue_tombstone", [Text(account), Number(queue)]) => {
                record(&Namespace::Queues.directory(account), &namespace::tombstone_key(*queue))
            }
            ("message", [Number(queue), Number(visible), Number(number)]) => {
                let key = queue_keys::MessageKey { visible: *visible, number: *number };
                record(&queue_keys::messages_partition(*queue), &queue_keys::message_key(key))
            }
            ("expiry", [Number(queue), Number(expires), Number(number)]) => {
                record(&queue_keys::messages_partition(*queue), &queue_keys::expiry_key(*expires, *number))
            }
            ("count", [Number(queue), Number(part)]) => {
                record(&queue_keys::messages_partition(*queue), &queue_keys::count_key(*part))
            }
            ("range_of_queue", [Number(queue)]) => range(&queue_keys::messages_range(*queue)),
            ("next_container_id", []) => record(&keys::system_partition(), blob_keys::NEXT_CONTAINER_ID),
            ("next_content_id", []) => record(&keys::system_partition(), blob_keys::NEXT_CONTENT_ID),
            ("tag_index_state", []) => record(&keys::system_partition(), blob_keys::TAG_INDEX_STATE),
            ("blob_timestamp_ceiling", []) => record(&keys::system_partition(), blob_keys::TIMESTAMP_CEILING),
            ("container", [Text(account), Text(name)]) => {
                record(&Namespace::Containers.directory(account), &namespace::row_key(name))
            }
            ("container_tombstone", [Text(account), Number(container)]) => {
                let key = namespace::tombstone_key(*container);
                assert_eq!(namespace::id_of_tombstone(&key).unwrap(), *container);
                record(&Namespace::Containers.directory(account), &key)
            }
            ("snapshot", [Number(container), Text(name), Number(taken)]) => {
                blob_record(*container, name, &blob_keys::snapshot_key(*taken))
            }
            ("blob", [Number(container), Text(name)]) => blob_record(*container, name, blob_keys::BASE_KEY),
            ("blocks", [Number(container), Text(name)]) => blob_record(*container, name, blob_keys::BLOCKS_KEY),
            ("block", [Number(container), Text(name), Text(id)]) => {
                let key = blob_keys::block_key(id.as_bytes());
                assert_eq!(blob_keys::block_id_of(&key).unwrap(), id.as_bytes());
                blob_record(*container, name, &key)
            }
            ("pieces", [Number(container), Text(name), Number(layout), Number(index)]) => {
                blob_record(*container, name, &blob_keys::pieces_key(*layout, *index))
            }
            ("layer", [Number(container), Text(name), Number(layer)]) => {
                let key = blob_keys::layer_key(*layer);
                assert_eq!(blob_keys::place_in_layer(&key).unwrap(), (*layer, 0));
                blob_record(*container, name, &key)
            }
            ("page_map", [Number(container), Text(name), Number(layer), Number(region)]) => {
                let key = blob_keys::page_map_key(*layer, *region);
                assert_eq!(blob_keys::place_in_layer(&key).unwrap(), (*layer, *region));
                blob_record(*container, name, &key)
            }
            ("pages", [Number(container), Text(name), Number(layer), Number(segment)]) => {
                let key = blob_keys::pages_key(*layer, *segment);
                assert_eq!(blob_keys::place_in_layer(&key).unwrap(), (*layer, *segment));
                blob_record(*container, name, &key)
            }
            ("chunk", [Number(container), Number(content), Number(index)]) => {
                record(&blob_keys::content_partition(*container, *content), &blob_keys::chunk_key(*index))
            }
            ("range_of_container_blobs", [Number(container)]) => range(&blob_keys::container_blobs(*container)),
            ("range_of_container_contents", [Number(container)]) => range(&blob_keys::container_contents(*container)),
            ("range_of_container_tags", [Number(container)]) => range(&blob_keys::container_tags(*container)),
            ("tag", [Number(container), Text(key), Text(value), Text(blob), Number(number)]) => {
                let entry = blob_keys::tag_key(key, value, blob, *number);
                assert_eq!(blob_keys::blob_of_tag(&entry).unwrap(), *blob);
                record(&blob_keys::tags_partition(*container), &entry)
            }
            ("reclaim_intent", [Number(id)]) => {
                record(&blob_keys::intents_partition(), &blob_keys::reclaim_intent_key(*id))
            }
            ("dated_reclaim_intent", [Number(since), Number(id)]) => {
                record(&blob_keys::intents_partition(), &blob_keys::dated_reclaim_intent_key(*since, *id))
            }
            ("usage", [Number(container), Number(server)]) => {
                let key = blob_keys::usage_key(*container, *server);
                assert_eq!(blob_keys::server_of_usage(&key).unwrap(), *server);
                record(&blob_keys::usage_partition(), &key)
            }
            ("block_watch", [Number(since), Number(container), Text(name)]) => {
                let key = blob_keys::block_watch_key(*since, *container, name);
                let read = blob_keys::blob_of_block_watch(&key).unwrap();
                assert_eq!(read, (*since, *container, name.clone()));
                record(&blob_keys::intents_partition(), &key)
            }
            ("layer_merge", [Number(container), Text(name)]) => {
                let key = blob_keys::layer_merge_key(*container, name);
                assert_eq!(blob_keys::blob_of_layer_merge(&key).unwrap(), (*container, name.clone()));
                record(&blob_keys::intents_partition(), &key)
            }
            ("note_of_dropped_table", [Number(table)]) => self.checked_note(*table),
            (name, arguments) => panic!("unknown example {name}{arguments:?}"),
        }
    }

    /// Notes are the engine's own, so their bytes are taken as they are and read back piece by piece.
    fn checked_note(&self, table: u64) -> Fields {
        let range = table_keys::table_range(table);
        let end = range.end.expect("a table is not the last thing there can be");
        let mut pieces = KeyReader::new(&self.fields["value"]);
        assert_eq!((pieces.tag().unwrap(), pieces.number().unwrap()), (1, 0));
        for position in [range.start, end] {
            assert_eq!(pieces.bytes().unwrap(), &position.partition[..]);
            assert_eq!(pieces.bytes().unwrap(), &position.key[..]);
        }
        pieces.finish().unwrap();
        assert_eq!(self.fields["key"].len(), 8);
        fields([("key", &self.fields["key"]), ("value", &self.fields["value"])])
    }
}

fn range(range: &Range) -> Fields {
    let (start, end) = physical::encode_range(range);
    fields([("start", &start), ("end", &end.expect("nothing of ours is the last thing there can be"))])
}

fn blob_record(container: u64, name: &str, key: &[u8]) -> Fields {
    let partition = blob_keys::blob_partition(container, name);
    assert_eq!(blob_keys::blob_name_of(&partition).unwrap(), name);
    assert!(blob_keys::blob_key_of(key).is_ok());
    record(&partition, key)
}

fn record(partition: &[u8], key: &[u8]) -> Fields {
    let physical = physical::encode(partition, key);
    let position = physical::decode(&physical.clone().into()).unwrap();
    assert_eq!((&position.partition[..], &position.key[..]), (partition, key), "the key reads back");
    fields([("partition", partition), ("key", key), ("physical", &physical)])
}

fn fields<const N: usize>(pairs: [(&str, &[u8]); N]) -> Fields {
    pairs.into_iter().map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).collect()
}

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fenced blocks of a document that are marked with a word.
fn blocks<'a>(document: &'a str, mark: &str) -> Vec<&'a str> {
    let opening = format!("```{mark}\n");
    let opened = document.split(&opening).skip(1);
    opened.map(|rest| rest.split_once("\n```").expect("a block ends").0).collect()
}

fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in blocks(document, "keys").iter().flat_map(|block| block.lines()).filter(|line| !line.is_empty()) {
        if let Some(field) = line.strip_prefix(' ') {
            let (name, hex) = field.trim_start().split_once(' ').expect("a field has a name and hex");
            let example = examples.last_mut().expect("a field belongs to an example");
            let bytes = if hex.trim() == "(empty)" { vec![] } else { bytes_of(hex) };
            example.fields.insert(name.to_owned(), bytes);
        } else {
            let (name, arguments) = line.split_once('(').expect("an example is written as a call");
            let arguments = arguments.strip_suffix(')').expect("a call has its closing parenthesis");
            examples.push(Example {
                name: name.to_owned(),
                arguments: parse_arguments(arguments),
                fields: Fields::new(),
            });
        }
    }
    examples
}

fn parse_arguments(text: &str) -> Vec<Argument> {
    let parse = |argument: &str| match argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => Argument::Text(unescape(text)),
        None => Argument::Number(argument.parse().unwrap_or_else(|_| panic!("{argument} is not a number"))),
    };
    text.split(", ").filter(|argument| !argument.is_empty()).map(parse).collect()
}

/// `\u{1f600}` as in Rust, for characters that cannot be recognised by looking.
fn unescape(text: &str) -> String {
    let mut pieces = text.split("\\u{");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (number, rest) = piece.split_once('}').expect("an escape ends");
        let number = u32::from_str_radix(number, 16).expect("an escape is hex");
        plain.push(char::from_u32(number).expect("an escape is a character"));
        plain.push_str(rest);
    }
    plain
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex
        .chars()
        .filter(|char| !char.is_whitespace())
        .map(|char| char.to_digit(16).unwrap_or_else(|| panic!("{hex} is not hex")))
        .collect();
    assert!(digits.len().is_multiple_of(2), "{hex} has half a byte");
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
