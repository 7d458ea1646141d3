//! Requests to the Table service: method, path and query become an operation with its target.

use tablerock_protocol::{ErrorCode, QueryString, ServiceError, ServiceVersion, TableResource};

use crate::auth::{Request, requests};
use crate::http::verb::Verb;
use crate::operation::Operation;

/// OData options that the service has never had.
const UNSUPPORTED_OPTIONS: &[&str] = &["$orderby", "$skip", "$expand", "$inlinecount", "$count", "$value", "$apply"];

/// The keys of an entity in a URL, with its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntityAddress<'a> {
    pub(crate) table: &'a str,
    pub(crate) partition_key: &'a str,
    pub(crate) row_key: &'a str,
}

/// A request to the Table service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableRequest<'a> {
    QueryTables,
    CreateTable,
    QueryTable(&'a str),
    DeleteTable(&'a str),
    GetTableAcl(&'a str),
    SetTableAcl(&'a str),
    Read(EntityRead<'a>),
    Write(EntityWrite<'a>),
    Nested(NestedRequest<'a>),
    EntityGroupTransaction,
    GetTableServiceProperties,
    SetTableServiceProperties,
    GetTableServiceStats,
    TablePreflightRequest,
}

requests! {
    /// A read of entities, alone or as the one part of a batch.
    EntityRead {
        QueryEntities(&'a str)
        QueryEntity(EntityAddress<'a>)
    }
}

requests! {
    /// A write of one entity, alone or as a part of a group transaction.
    EntityWrite {
        InsertEntity(&'a str)
        UpdateEntity(EntityAddress<'a>)
        MergeEntity(EntityAddress<'a>)
        InsertOrReplaceEntity(EntityAddress<'a>)
        InsertOrMergeEntity(EntityAddress<'a>)
        DeleteEntity(EntityAddress<'a>)
    }
}

/// A request to `/T/Tables` and the like, which fails after it is admitted as the operation on the table that it resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestedRequest<'a> {
    /// A client whose endpoint already ends in a table's name creates a table here.
    Insert(&'a str),
    /// The same client deletes a table.
    Delete(&'a str),
}

impl<'a> EntityWrite<'a> {
    /// The table that it writes to.
    pub(crate) fn table(&self) -> &'a str {
        match self {
            Self::InsertEntity(table) => table,
            Self::UpdateEntity(at)
            | Self::MergeEntity(at)
            | Self::InsertOrReplaceEntity(at)
            | Self::InsertOrMergeEntity(at)
            | Self::DeleteEntity(at) => at.table,
        }
    }
}

impl Request for TableRequest<'_> {
    fn operation(&self) -> Operation {
        match self {
            Self::QueryTables => Operation::QueryTables,
            Self::CreateTable => Operation::CreateTable,
            Self::QueryTable(_) => Operation::QueryTable,
            Self::DeleteTable(_) => Operation::DeleteTable,
            Self::GetTableAcl(_) => Operation::GetTableAcl,
            Self::SetTableAcl(_) => Operation::SetTableAcl,
            Self::Read(read) => read.operation(),
            Self::Write(write) => write.operation(),
            Self::Nested(NestedRequest::Insert(_)) => Operation::InsertEntity,
            Self::Nested(NestedRequest::Delete(_)) => Operation::DeleteEntity,
            Self::EntityGroupTransaction => Operation::EntityGroupTransaction,
            Self::GetTableServiceProperties => Operation::GetTableServiceProperties,
            Self::SetTableServiceProperties => Operation::SetTableServiceProperties,
            Self::GetTableServiceStats => Operation::GetTableServiceStats,
            Self::TablePreflightRequest => Operation::TablePreflightRequest,
        }
    }
}

/// The facts that select the operation, in addition to the resource.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRequestLine<'a> {
    pub(crate) verb: Verb,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) has_if_match: bool,
    pub(crate) version: ServiceVersion,
}

impl<'a> TableRequest<'a> {
    pub(crate) fn parse(line: &TableRequestLine<'_>, resource: &'a TableResource) -> Result<Self, ServiceError> {
        let TableRequestLine { verb, query, .. } = *line;
        if verb == Verb::Options {
            return Ok(Self::TablePreflightRequest);
        }
        let is_unsupported = |name: &str| {
            name.starts_with('$') && UNSUPPORTED_OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(name))
        };
        if query.pairs().iter().any(|(name, _)| is_unsupported(name)) {
            return Err(ErrorCode::NotImplemented.into());
        }
        match resource {
            TableResource::Service => Self::parse_service(verb, query),
            TableResource::Tables => match verb {
                Verb::Get => Ok(Self::QueryTables),
                Verb::Post => Ok(Self::CreateTable),
                _ => Err(ErrorCode::MethodNotAllowed.into()),
            },
            TableResource::Table { name } => match verb {
                Verb::Get => Ok(Self::QueryTable(name)),
                Verb::Delete => Ok(Self::DeleteTable(name)),
                _ => Err(ErrorCode::MethodNotAllowed.into()),
            },
            TableResource::Entities { table } => Self::parse_entities(verb, query, table),
            TableResource::Entity { table, partition_key, row_key } => {
                Self::parse_entity(line, EntityAddress { table, partition_key, row_key })
            }
            TableResource::Batch => match verb {
                Verb::Post => Ok(Self::EntityGroupTransaction),
                _ => Err(ErrorCode::MethodNotAllowed.into()),
            },
            TableResource::Nested { table, with_keys } => match (verb, with_keys) {
                (Verb::Delete, true) => Ok(Self::Nested(NestedRequest::Delete(table))),
                (Verb::Post, false) => Ok(Self::Nested(NestedRequest::Insert(table))),
                _ => Err(ErrorCode::NotImplemented.into()),
            },
        }
    }

    fn parse_service(verb: Verb, query: &QueryString<'_>) -> Result<Self, ServiceError> {
        let comp = query.keyword("comp").ok_or(ErrorCode::MissingRequiredQueryParameter)?;
        match (query.keyword("restype").as_deref(), &*comp, verb) {
            (Some("service"), "properties", Verb::Get) => Ok(Self::GetTableServiceProperties),
            (Some("service"), "properties", Verb::Put) => Ok(Self::SetTableServiceProperties),
            (Some("service"), "stats", Verb::Get) => Ok(Self::GetTableServiceStats),
            (Some("service"), "properties" | "stats", _) => Err(ErrorCode::UnsupportedHttpVerb.into()),
            (None, "properties" | "stats", _) => Err(ErrorCode::MissingRequiredQueryParameter.into()),
            _ => Err(ErrorCode::InvalidQueryParameterValue.into()),
        }
    }

    fn parse_entities(verb: Verb, query: &QueryString<'_>, table: &'a str) -> Result<Self, ServiceError> {
        match query.keyword("comp").as_deref() {
            Some("acl") => match verb {
                Verb::Get | Verb::Head => Ok(Self::GetTableAcl(table)),
                Verb::Put => Ok(Self::SetTableAcl(table)),
                _ => Err(ErrorCode::UnsupportedHttpVerb.into()),
            },
            Some(_) => Err(ErrorCode::InvalidQueryParameterValue.into()),
            None => match verb {
                Verb::Get => Ok(Self::Read(EntityRead::QueryEntities(table))),
                Verb::Post => Ok(Self::Write(EntityWrite::InsertEntity(table))),
                _ => Err(ErrorCode::MethodNotAllowed.into()),
            },
        }
    }

    /// Replace and merge are upserts when they carry no condition, which the oldest versions did not have.
    fn parse_entity(line: &TableRequestLine<'_>, at: EntityAddress<'a>) -> Result<Self, ServiceError> {
        let conditional = line.has_if_match || line.version < ServiceVersion::UPSERT;
        Ok(match line.verb {
            Verb::Get => Self::Read(EntityRead::QueryEntity(at)),
            Verb::Put if conditional => Self::Write(EntityWrite::UpdateEntity(at)),
            Verb::Put => Self::Write(EntityWrite::InsertOrReplaceEntity(at)),
            Verb::Merge if conditional => Self::Write(EntityWrite::MergeEntity(at)),
            Verb::Merge => Self::Write(EntityWrite::InsertOrMergeEntity(at)),
            Verb::Delete => Self::Write(EntityWrite::DeleteEntity(at)),
            Verb::Post | Verb::Head | Verb::Options => return Err(ErrorCode::MethodNotAllowed.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(request: &str) -> Result<Operation, ErrorCode> {
        let (method, target) = request.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (path, has_if_match) = path.strip_suffix(" If-Match").map_or((path, false), |path| (path, true));
        let (verb, query) = (Verb::parse(method).unwrap(), QueryString::parse(query).unwrap());
        let version = ServiceVersion::LATEST;
        let line = TableRequestLine { verb, query: &query, has_if_match, version };
        let resource = TableResource::parse(path).unwrap();
        TableRequest::parse(&line, &resource).map(|request| request.operation()).map_err(|error| error.code)
    }

    #[test]
    fn method_path_and_query_name_the_operation() {
        use Operation::*;
        for (request, expected) in [
            ("GET /Tables", QueryTables),
            ("POST /Tables", CreateTable),
            ("GET /Tables('People')", QueryTable),
            ("DELETE /Tables('People')", DeleteTable),
            ("HEAD /People?comp=acl", GetTableAcl),
            ("PUT /People?comp=acl", SetTableAcl),
            ("GET /People()", QueryEntities),
            ("POST /People", InsertEntity),
            ("GET /People(PartitionKey='a',RowKey='b')", QueryEntity),
            ("PUT /People(PartitionKey='a',RowKey='b') If-Match", UpdateEntity),
            ("PUT /People(PartitionKey='a',RowKey='b')", InsertOrReplaceEntity),
            ("MERGE /People(PartitionKey='a',RowKey='b') If-Match", MergeEntity),
            ("PATCH /People(PartitionKey='a',RowKey='b')", InsertOrMergeEntity),
            ("DELETE /People(PartitionKey='a',RowKey='b')", DeleteEntity),
            ("POST /$batch", EntityGroupTransaction),
            ("GET /?restype=service&comp=properties", GetTableServiceProperties),
            ("PUT /?restype=service&comp=properties", SetTableServiceProperties),
            ("GET /?restype=service&comp=stats", GetTableServiceStats),
            ("OPTIONS /People", TablePreflightRequest),
            ("GET /?ResType=Service&COMP=Stats", GetTableServiceStats),
            ("PUT /People?Comp=ACL", SetTableAcl),
            ("POST /People/Tables", InsertEntity),
            ("DELETE /People/Tables('People')", DeleteEntity),
        ] {
            assert_eq!(parsed(request), Ok(expected), "{request}");
        }
    }

    #[test]
    fn unknown_methods_and_options_are_rejected() {
        for (request, code) in [
            ("GET /People?$orderby=Name", ErrorCode::NotImplemented),
            ("GET /People?$OrderBy=Name", ErrorCode::NotImplemented),
            ("PUT /Tables", ErrorCode::MethodNotAllowed),
            ("POST /Tables('People')", ErrorCode::MethodNotAllowed),
            ("DELETE /People", ErrorCode::MethodNotAllowed),
            ("POST /People(PartitionKey='a',RowKey='b')", ErrorCode::MethodNotAllowed),
            ("GET /$batch", ErrorCode::MethodNotAllowed),
            ("GET /", ErrorCode::MissingRequiredQueryParameter),
            ("GET /People?comp=lease", ErrorCode::InvalidQueryParameterValue),
            ("GET /People/Tables", ErrorCode::NotImplemented),
        ] {
            assert_eq!(parsed(request), Err(code), "{request}");
        }
    }
}
