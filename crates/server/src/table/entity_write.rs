//! Insert, update, merge, upsert and delete of one entity, alone or as a part of a group.

use http::header;
use tablerock_protocol::entity::{check_body_key, check_url_key};
use tablerock_protocol::json::{EntityShape, Location, append_address, append_entity, parse_changes, parse_entity};
use tablerock_protocol::media::check_json_content_type;
use tablerock_protocol::{
    Accepted, DateTime, ErrorCode, EtagCondition, MetadataLevel, PARTITION_KEY, ROW_KEY, Select, ServiceError, etag,
};
use tablerock_services::table::{Change, EntityGroup, EntityOperation, Outcome, Properties};

use super::request::{EntityAddress, EntityWrite};
use super::{DATA_SERVICE_VERSION, TableCall, check_table_name};
use crate::auth::Caller;
use crate::http::headers::ResponseHeader;
use crate::http::prefer::{RETURN_NO_CONTENT, prefer};
use crate::http::reply::Reply;

/// An error of decoding a write. The service looks the table up after it has read the head and before it reads the body,
/// so an error of the body counts only if the table exists. The look-up is left to [`Flaw::judge`]: a write without flaws
/// finds its table when it is applied.
#[derive(Debug)]
pub(super) enum Flaw {
    Head(ServiceError),
    Body(ServiceError),
}

impl Flaw {
    /// The error that the client gets. A missing table is attributed to the first operation of a group.
    pub(super) async fn judge(self, call: &TableCall<'_>, table: &str) -> ServiceError {
        match self {
            Self::Head(error) => error,
            Self::Body(error) => match call.server().tables.check_table(call.account(), table).await {
                Ok(()) => error,
                Err(missing) => ServiceError::from(missing).at_index(0),
            },
        }
    }
}

impl From<ServiceError> for Flaw {
    fn from(error: ServiceError) -> Self {
        Self::Head(error)
    }
}

impl From<ErrorCode> for Flaw {
    fn from(code: ErrorCode) -> Self {
        Self::Head(code.into())
    }
}

/// The parts of a request, or of a part of a group, that a write reads.
pub(super) struct WriteParts<'a> {
    pub(super) if_match: Option<&'a str>,
    pub(super) has_if_none_match: bool,
    pub(super) content_type: Option<&'a str>,
    pub(super) prefer: Option<&'static str>,
    pub(super) accepted: Accepted,
    pub(super) body: &'a [u8],
}

pub(super) async fn write_entity(call: &TableCall<'_>, write: EntityWrite<'_>) -> Result<Reply, ServiceError> {
    if call.headers.get_all(header::IF_MATCH).iter().count() > 1 {
        return Err(ErrorCode::InvalidInput.into());
    }
    let parts = WriteParts {
        if_match: call.header(&header::IF_MATCH),
        has_if_none_match: call.header_value(&header::IF_NONE_MATCH).is_some(),
        content_type: call.header(&header::CONTENT_TYPE),
        prefer: prefer(call.headers),
        accepted: call.accepted,
        body: &call.body,
    };
    let operation = match parts.decode(write, call.caller) {
        Ok(operation) => operation,
        Err(flaw) => return Err(ServiceError { index: None, ..Box::pin(flaw.judge(call, write.table())).await }),
    };
    let group = EntityGroup::single(operation);
    let applied = call.server().tables.apply(call.account(), &group).await;
    // A write alone has no index in a group.
    let outcomes = applied.map_err(|error| ServiceError { index: None, ..error.into() })?;
    let operation = &group.operations()[0];
    parts.encode(call.location(&operation.table), operation, &outcomes[0])
}

impl WriteParts<'_> {
    /// Decodes and checks everything that can be checked without the stored entity.
    pub(super) fn decode(&self, write: EntityWrite<'_>, caller: &Caller) -> Result<EntityOperation, Flaw> {
        if self.has_if_none_match {
            return Err(ErrorCode::InvalidInput.into());
        }
        let operation = match write {
            EntityWrite::InsertEntity(table) => self.decode_insert(table)?,
            EntityWrite::UpdateEntity(at) => {
                let (properties, condition) = self.decode_change(at)?;
                change(at, Change::Replace { properties, condition: Some(required(condition)?) })
            }
            EntityWrite::MergeEntity(at) => {
                let (properties, condition) = self.decode_change(at)?;
                change(at, Change::Merge { properties, condition: Some(required(condition)?) })
            }
            EntityWrite::InsertOrReplaceEntity(at) => {
                let (properties, _) = self.decode_change(at)?;
                change(at, Change::Replace { properties, condition: None })
            }
            EntityWrite::InsertOrMergeEntity(at) => {
                let (properties, _) = self.decode_change(at)?;
                change(at, Change::Merge { properties, condition: None })
            }
            EntityWrite::DeleteEntity(at) => {
                check_table_name(at.table)?;
                check_url_key(at.partition_key)?;
                check_url_key(at.row_key)?;
                change(at, Change::Delete { condition: required(self.condition()?)? })
            }
        };
        caller.check_write(&operation.partition_key, &operation.row_key)?;
        Ok(operation)
    }

    fn decode_insert(&self, table: &str) -> Result<EntityOperation, Flaw> {
        check_table_name(table)?;
        check_json_content_type(self.content_type)?;
        self.returned_level()?;
        let entity = parse_entity(self.body).map_err(Flaw::Body)?;
        let (Some(partition_key), Some(row_key)) = (entity.partition_key, entity.row_key) else {
            return Err(Flaw::Body(ErrorCode::PropertiesNeedValue.into()));
        };
        check_body_key(PARTITION_KEY, &partition_key).map_err(Flaw::Body)?;
        check_body_key(ROW_KEY, &row_key).map_err(Flaw::Body)?;
        Ok(EntityOperation {
            table: table.to_owned(),
            partition_key: partition_key.into_owned(),
            row_key: row_key.into_owned(),
            change: Change::Insert(Properties::encode(&entity.properties)),
        })
    }

    /// The properties of an entity whose keys are in the URL, and the condition. Keys in the body are ignored, as clients
    /// expect.
    fn decode_change(&self, at: EntityAddress<'_>) -> Result<(Properties, Option<EtagCondition>), Flaw> {
        check_table_name(at.table)?;
        let condition = self.condition()?;
        check_url_key(at.partition_key)?;
        check_url_key(at.row_key)?;
        check_json_content_type(self.content_type)?;
        let properties = parse_changes(self.body).map_err(Flaw::Body)?;
        Ok((Properties::encode(&properties), condition))
    }

    fn condition(&self) -> Result<Option<EtagCondition>, ServiceError> {
        self.if_match.map(EtagCondition::parse).transpose()
    }

    pub(super) fn encode(
        &self,
        location: Location<'_>,
        operation: &EntityOperation,
        outcome: &Outcome,
    ) -> Result<Reply, ServiceError> {
        match (&operation.change, outcome) {
            (_, Outcome::Deleted) => Ok(Reply::empty(204).with(ResponseHeader::DataServiceVersion, "1.0;")),
            (Change::Insert(properties), Outcome::Written(timestamp)) => {
                self.encode_insert(location, operation, properties, *timestamp)
            }
            (_, Outcome::Written(timestamp)) => Ok(Reply::empty(204)
                .with(ResponseHeader::DataServiceVersion, "1.0;")
                .with(ResponseHeader::Etag, etag(*timestamp))),
        }
    }

    fn encode_insert(
        &self,
        location: Location<'_>,
        operation: &EntityOperation,
        properties: &Properties,
        timestamp: DateTime,
    ) -> Result<Reply, ServiceError> {
        let EntityOperation { table, partition_key, row_key, .. } = operation;
        let mut address = [location.base, "/"].concat().into_bytes();
        append_address(&mut address, table, partition_key, row_key);
        let address = String::from_utf8(address).expect("an address is ASCII behind a host that was text");
        let level = self.returned_level()?;
        let mut reply = Reply::empty(204);
        if let Some(level) = level {
            let entity = properties.at(timestamp);
            let shape = EntityShape { location, level, select: &Select::default() };
            let mut body = Vec::with_capacity(512 + entity.bytes_len() * 2);
            let written = entity.read(|properties| {
                append_entity(&mut body, &shape, true, partition_key, row_key, timestamp, properties);
            });
            written.map_err(tablerock_services::Error::from)?;
            reply = Reply::json(201, level, body);
        }
        if let Some(applied) = self.prefer {
            reply = reply.with_first(ResponseHeader::PreferenceApplied, applied);
        }
        reply = reply
            .with(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION)
            .with(ResponseHeader::Location, address.clone());
        if level.is_none() {
            reply = reply.with(ResponseHeader::DataServiceId, address);
        }
        Ok(reply.with(ResponseHeader::Etag, etag(timestamp)))
    }

    /// The level of the entity that an insert returns; `None` if the client wants none back.
    fn returned_level(&self) -> Result<Option<MetadataLevel>, ServiceError> {
        match self.prefer {
            Some(RETURN_NO_CONTENT) => Ok(None),
            _ => Ok(Some(self.accepted.level?)),
        }
    }
}

fn change(at: EntityAddress<'_>, change: Change) -> EntityOperation {
    EntityOperation {
        table: at.table.to_owned(),
        partition_key: at.partition_key.to_owned(),
        row_key: at.row_key.to_owned(),
        change,
    }
}

fn required(condition: Option<EtagCondition>) -> Result<EtagCondition, ServiceError> {
    condition.ok_or_else(|| ErrorCode::MissingRequiredHeader.into())
}
