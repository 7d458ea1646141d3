//! Insert, update, merge, upsert and delete of one entity, alone or as a part of a group.

use std::borrow::Cow;

use http::header;
use tablerock_protocol::entity::{check_body_key, check_url_key};
use tablerock_protocol::json::{EntityShape, Location, append_address, append_entity, parse_entity};
use tablerock_protocol::media::check_json_content_type;
use tablerock_protocol::{
    Accepted, DateTime, ErrorCode, EtagCondition, MetadataLevel, PARTITION_KEY, ROW_KEY, Select, ServiceError,
    TableResource, etag,
};
use tablerock_services::table::{Change, EntityGroup, EntityOperation, Outcome, Properties};

use super::query::check_table_name;
use super::{Call, DATA_SERVICE_VERSION, RETURN_NO_CONTENT, prefer};
use crate::answer::Answer;
use crate::auth::Caller;
use crate::headers::AnswerHeader;
use crate::operation::Operation;

/// The parts of a write that matter, wherever it came from.
pub(super) struct WriteRequest<'a> {
    pub(super) operation: Operation,
    pub(super) resource: Cow<'a, TableResource>,
    pub(super) if_match: Option<&'a str>,
    pub(super) has_if_none_match: bool,
    pub(super) content_type: Option<&'a str>,
    pub(super) prefer: Option<&'static str>,
    pub(super) accepted: Accepted,
    pub(super) body: &'a [u8],
}

pub(super) async fn write_entity(call: &Call<'_>) -> Result<Answer, ServiceError> {
    if call.headers.get_all(header::IF_MATCH).iter().count() > 1 {
        return Err(ErrorCode::InvalidInput.into());
    }
    let request = WriteRequest {
        operation: call.operation,
        resource: Cow::Borrowed(call.resource),
        if_match: call.header(header::IF_MATCH),
        has_if_none_match: call.headers.contains_key(header::IF_NONE_MATCH),
        content_type: call.header(header::CONTENT_TYPE),
        prefer: prefer(call.headers),
        accepted: call.accepted,
        body: &call.body,
    };
    let operation = request.decode(call.caller)?;
    let group = EntityGroup::single(operation);
    let applied = call.server.tables.apply(call.account(), &group).await;
    let outcomes = applied.map_err(|error| ServiceError { index: None, ..error.into_service_error() })?;
    let operation = &group.operations()[0];
    request.encode(call.location(&operation.table), operation, &outcomes[0])
}

impl WriteRequest<'_> {
    /// Reads and checks everything that can be checked before the entity is looked at.
    pub(super) fn decode(&self, caller: &Caller) -> Result<EntityOperation, ServiceError> {
        if self.has_if_none_match {
            return Err(ErrorCode::InvalidInput.into());
        }
        let operation = match self.resource.as_ref() {
            TableResource::Entities { table } => self.decode_insert(table)?,
            TableResource::Entity { table, partition_key, row_key } => {
                self.decode_change(table, partition_key, row_key)?
            }
            _ => return Err(ErrorCode::InvalidInput.into()),
        };
        caller.check_write(&operation.partition_key, &operation.row_key)?;
        Ok(operation)
    }

    fn decode_insert(&self, table: &str) -> Result<EntityOperation, ServiceError> {
        check_table_name(table)?;
        check_json_content_type(self.content_type)?;
        self.returned_level()?;
        let entity = parse_entity(self.body)?;
        let (Some(partition_key), Some(row_key)) = (entity.partition_key, entity.row_key) else {
            return Err(ErrorCode::PropertiesNeedValue.into());
        };
        check_body_key(PARTITION_KEY, &partition_key)?;
        check_body_key(ROW_KEY, &row_key)?;
        Ok(EntityOperation {
            table: table.to_owned(),
            partition_key: partition_key.into_owned(),
            row_key: row_key.into_owned(),
            change: Change::Insert(Properties::encode(&entity.properties)),
        })
    }

    /// The keys of the URL count; keys in the body are ignored, as clients expect.
    fn decode_change(&self, table: &str, partition_key: &str, row_key: &str) -> Result<EntityOperation, ServiceError> {
        check_table_name(table)?;
        let condition = self.if_match.map(EtagCondition::parse).transpose()?;
        let required = || condition.ok_or_else(|| ServiceError::new(ErrorCode::MissingRequiredHeader));
        let change = if self.operation == Operation::DeleteEntity {
            Change::Delete { condition: required()? }
        } else {
            check_url_key(partition_key)?;
            check_url_key(row_key)?;
            check_json_content_type(self.content_type)?;
            let properties = Properties::encode(&parse_entity(self.body)?.properties);
            match self.operation {
                Operation::UpdateEntity => Change::Replace { properties, condition: Some(required()?) },
                Operation::MergeEntity => Change::Merge { properties, condition: Some(required()?) },
                Operation::InsertOrReplaceEntity => Change::Replace { properties, condition: None },
                _ => Change::Merge { properties, condition: None },
            }
        };
        Ok(EntityOperation {
            table: table.to_owned(),
            partition_key: partition_key.to_owned(),
            row_key: row_key.to_owned(),
            change,
        })
    }

    pub(super) fn encode(
        &self,
        location: Location<'_>,
        operation: &EntityOperation,
        outcome: &Outcome,
    ) -> Result<Answer, ServiceError> {
        match (&operation.change, outcome) {
            (_, Outcome::Deleted) => Ok(Answer::empty(204).with(AnswerHeader::DataServiceVersion, "1.0;")),
            (Change::Insert(properties), Outcome::Written(timestamp)) => {
                self.encode_insert(location, operation, properties, *timestamp)
            }
            (_, Outcome::Written(timestamp)) => Ok(Answer::empty(204)
                .with(AnswerHeader::DataServiceVersion, "1.0;")
                .with(AnswerHeader::Etag, etag(*timestamp))),
        }
    }

    fn encode_insert(
        &self,
        location: Location<'_>,
        operation: &EntityOperation,
        properties: &Properties,
        timestamp: DateTime,
    ) -> Result<Answer, ServiceError> {
        let EntityOperation { table, partition_key, row_key, .. } = operation;
        let mut address = [location.base, "/"].concat().into_bytes();
        append_address(&mut address, table, partition_key, row_key);
        let address = String::from_utf8(address).expect("an address is ASCII behind a host that was text");
        let level = self.returned_level()?;
        let mut answer = Answer::empty(204);
        if let Some(level) = level {
            let entity = properties.at(timestamp);
            let shape = EntityShape { location, level, select: &Select::default() };
            let mut body = Vec::with_capacity(512 + entity.bytes_len() * 2);
            let written = entity.read(|properties| {
                append_entity(&mut body, &shape, true, partition_key, row_key, timestamp, properties);
            });
            written.map_err(|error| tablerock_services::Error::from(error).into_service_error())?;
            answer = Answer::json(201, level, body);
        }
        if let Some(applied) = self.prefer {
            answer = answer.with_first(AnswerHeader::PreferenceApplied, applied);
        }
        answer = answer
            .with(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION)
            .with(AnswerHeader::Location, address.clone());
        if level.is_none() {
            answer = answer.with(AnswerHeader::DataServiceId, address);
        }
        Ok(answer.with(AnswerHeader::Etag, etag(timestamp)))
    }

    /// The level of the entity that an insert returns; `None` if the client wants none back.
    fn returned_level(&self) -> Result<Option<MetadataLevel>, ServiceError> {
        match self.prefer {
            Some(RETURN_NO_CONTENT) => Ok(None),
            _ => Ok(Some(self.accepted.level?)),
        }
    }
}
