//! `$batch`: multipart to operations, operations to multipart in several manners, and the rules of a group.
//!
//! Input: the content type, a line feed, the body.

mod writing;

use tablerock_protocol::batch::{BatchPart, BatchRequest, parse_batch};
use tablerock_protocol::json::parse_entity;
use tablerock_protocol::{ErrorCode, EtagCondition, TableResource, limits};
use tablerock_services::table::{Change, EntityGroup, EntityOperation, Properties};

use crate::refusal::check_refusal;
use writing::Manner;

pub fn check(data: &[u8]) {
    let line_end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let (content_type, body) = (&data[..line_end], data.get(line_end + 1..).unwrap_or_default());
    let Ok(content_type) = std::str::from_utf8(content_type) else { return };
    let request = match parse_batch(content_type, body) {
        Ok(request) => request,
        Err(error) => {
            check_refusal(&error, data.len());
            assert_eq!(error.code, ErrorCode::InvalidInput);
            return;
        }
    };
    check_written(&request);
    match &request {
        BatchRequest::Query(part) => assert_eq!(part.method, "GET"),
        BatchRequest::Changeset(parts) => {
            // One more than allowed is passed on, and rejected later.
            assert!((1..=limits::GROUP_OPERATIONS_MAX + 1).contains(&parts.len()));
            assert!(parts.iter().all(|part| part.method != "GET"));
            check_group(parts, data.len());
        }
    }
}

/// A batch that is written down, in whatever manner, reads the same.
fn check_written(request: &BatchRequest<'_>) {
    for manner in [Manner::Plain, Manner::Odd] {
        let (content_type, body) = manner.write(request);
        assert_eq!(parse_batch(&content_type, &body).as_ref(), Ok(request), "{manner:?}");
    }
}

/// A group that is formed has one table, one partition and every row once; one that is refused names its operation.
fn check_group(parts: &[BatchPart<'_>], input_bytes: usize) {
    let Some(operations) = parts.iter().map(operation_of).collect::<Option<Vec<_>>>() else { return };
    match EntityGroup::new(operations) {
        Err(error) => {
            check_refusal(&error, input_bytes);
            assert!(error.index.is_some_and(|index| index < parts.len()), "{error:?}");
        }
        Ok(group) => {
            let operations = group.operations();
            assert!(operations.len() == parts.len() && operations.len() <= limits::GROUP_OPERATIONS_MAX);
            for (place, operation) in operations.iter().enumerate() {
                assert!(operation.table.eq_ignore_ascii_case(&operations[0].table));
                assert_eq!(operation.partition_key, operations[0].partition_key);
                assert!(operations[..place].iter().all(|earlier| earlier.row_key != operation.row_key));
            }
        }
    }
}

/// The write that a part asks for, as far as its address and body tell.
fn operation_of(part: &BatchPart<'_>) -> Option<EntityOperation> {
    let path = part.target.split('?').next().unwrap_or_default();
    let condition = part.header("If-Match").map(EtagCondition::parse).transpose().ok()?;
    match TableResource::parse(path).ok()? {
        TableResource::Entities { table } => {
            let entity = parse_entity(part.body).ok()?;
            let change = Change::Insert(Properties::encode(&entity.properties));
            let (partition_key, row_key) = (entity.partition_key?.into_owned(), entity.row_key?.into_owned());
            Some(EntityOperation { table, partition_key, row_key, change })
        }
        TableResource::Entity { table, partition_key, row_key } => {
            let change = Change::Delete { condition: condition.unwrap_or(EtagCondition::Any) };
            Some(EntityOperation { table, partition_key, row_key, change })
        }
        _ => None,
    }
}
