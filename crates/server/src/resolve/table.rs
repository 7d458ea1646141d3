//! The operations of the Table service.

use tablerock_protocol::resource::key_count_error;
use tablerock_protocol::{ErrorCode, QueryString, ServiceError, ServiceVersion, TableResource};

use super::Verb;
use crate::operation::Operation;

/// OData options that the service has never had.
const UNSUPPORTED_OPTIONS: &[&str] = &["$orderby", "$skip", "$expand", "$inlinecount", "$count", "$value", "$apply"];

/// Finds the operation. `account` is only for the wording of an error.
pub(crate) fn resolve(
    verb: Verb,
    resource: &TableResource,
    query: &QueryString<'_>,
    has_if_match: bool,
    version: ServiceVersion,
    account: &str,
) -> Result<Operation, ServiceError> {
    if verb == Verb::Options {
        return Ok(Operation::TablePreflightRequest);
    }
    let is_unsupported = |name: &str| name.starts_with('$') && UNSUPPORTED_OPTIONS.contains(&name);
    if query.pairs().iter().any(|(name, _)| is_unsupported(name)) {
        return Err(ErrorCode::NotImplemented.into());
    }
    match resource {
        TableResource::Service => resolve_service(verb, query),
        TableResource::Tables => match verb {
            Verb::Get => Ok(Operation::QueryTables),
            Verb::Post => Ok(Operation::CreateTable),
            _ => Err(ErrorCode::MethodNotAllowed.into()),
        },
        TableResource::Table { .. } => match verb {
            Verb::Get => Ok(Operation::QueryTable),
            Verb::Delete => Ok(Operation::DeleteTable),
            _ => Err(ErrorCode::MethodNotAllowed.into()),
        },
        TableResource::Entities { .. } => resolve_entities(verb, query),
        TableResource::Entity { .. } => resolve_entity(verb, has_if_match, version),
        TableResource::Batch => match verb {
            Verb::Post => Ok(Operation::EntityGroupTransaction),
            _ => Err(ErrorCode::MethodNotAllowed.into()),
        },
        TableResource::Nested { table, with_keys } => Err(match (verb, with_keys) {
            (Verb::Delete, true) => key_count_error(&format!("{account}.{table}")),
            (Verb::Post, false) => ErrorCode::PropertiesNeedValue.into(),
            _ => ErrorCode::NotImplemented.into(),
        }),
    }
}

fn resolve_service(verb: Verb, query: &QueryString<'_>) -> Result<Operation, ServiceError> {
    let comp = query.value("comp").ok_or(ErrorCode::MissingRequiredQueryParameter)?;
    match (query.value("restype"), comp, verb) {
        (Some("service"), "properties", Verb::Get) => Ok(Operation::GetTableServiceProperties),
        (Some("service"), "properties", Verb::Put) => Ok(Operation::SetTableServiceProperties),
        (Some("service"), "stats", Verb::Get) => Ok(Operation::GetTableServiceStats),
        (Some("service"), "properties" | "stats", _) => Err(ErrorCode::UnsupportedHttpVerb.into()),
        (None, "properties" | "stats", _) => Err(ErrorCode::MissingRequiredQueryParameter.into()),
        _ => Err(ErrorCode::InvalidQueryParameterValue.into()),
    }
}

fn resolve_entities(verb: Verb, query: &QueryString<'_>) -> Result<Operation, ServiceError> {
    match query.value("comp") {
        Some("acl") => match verb {
            Verb::Get | Verb::Head => Ok(Operation::GetTableAcl),
            Verb::Put => Ok(Operation::SetTableAcl),
            _ => Err(ErrorCode::UnsupportedHttpVerb.into()),
        },
        Some(_) => Err(ErrorCode::InvalidQueryParameterValue.into()),
        None => match verb {
            Verb::Get => Ok(Operation::QueryEntities),
            Verb::Post => Ok(Operation::InsertEntity),
            _ => Err(ErrorCode::MethodNotAllowed.into()),
        },
    }
}

/// Replace and merge are upserts when they carry no condition, which the oldest versions did not have.
fn resolve_entity(verb: Verb, has_if_match: bool, version: ServiceVersion) -> Result<Operation, ServiceError> {
    let conditional = has_if_match || version < ServiceVersion::UPSERT;
    Ok(match verb {
        Verb::Get => Operation::QueryEntity,
        Verb::Put if conditional => Operation::UpdateEntity,
        Verb::Put => Operation::InsertOrReplaceEntity,
        Verb::Merge if conditional => Operation::MergeEntity,
        Verb::Merge => Operation::InsertOrMergeEntity,
        Verb::Delete => Operation::DeleteEntity,
        Verb::Post | Verb::Head | Verb::Options => return Err(ErrorCode::MethodNotAllowed.into()),
    })
}
