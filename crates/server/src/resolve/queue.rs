//! The operations of the Queue service.

use tablerock_protocol::{QueryString, QueueResource, ServiceError};

use super::{Verb, unknown_parameter, unsupported_verb};
use crate::operation::Operation;

/// Finds the operation.
pub(crate) fn resolve_queue(
    verb: Verb,
    resource: &QueueResource,
    query: &QueryString<'_>,
) -> Result<Operation, ServiceError> {
    use Operation::*;
    if verb == Verb::Options {
        return Ok(QueuePreflightRequest);
    }
    let (restype, comp) = (query.value("restype"), query.value("comp"));
    Ok(match (resource, restype, comp, verb) {
        (QueueResource::Service, None, Some("list"), Verb::Get) => ListQueues,
        (QueueResource::Service, Some("service"), Some("properties"), Verb::Get) => GetQueueServiceProperties,
        (QueueResource::Service, Some("service"), Some("properties"), Verb::Put) => SetQueueServiceProperties,
        (QueueResource::Service, Some("service"), Some("stats"), Verb::Get) => GetQueueServiceStats,
        (QueueResource::Service, None, Some("list"), _)
        | (QueueResource::Service, Some("service"), Some("properties" | "stats"), _) => return Err(unsupported_verb()),
        (QueueResource::Service, None, Some("properties" | "stats"), _) => {
            return Err(ServiceError::missing_parameter("restype"));
        }

        (QueueResource::Queue { .. }, _, None, Verb::Put) => CreateQueue,
        (QueueResource::Queue { .. }, _, None, Verb::Delete) => DeleteQueue,
        (QueueResource::Queue { .. }, _, Some("metadata"), Verb::Get | Verb::Head) => GetQueueMetadata,
        (QueueResource::Queue { .. }, _, Some("metadata"), Verb::Put) => SetQueueMetadata,
        (QueueResource::Queue { .. }, _, Some("acl"), Verb::Get | Verb::Head) => GetQueueACL,
        (QueueResource::Queue { .. }, _, Some("acl"), Verb::Put) => SetQueueACL,
        (QueueResource::Queue { .. }, _, None | Some("metadata" | "acl"), _) => return Err(unsupported_verb()),

        (QueueResource::Messages { .. }, _, None, Verb::Get) => match query.value("peekonly") {
            Some(text) if text.eq_ignore_ascii_case("true") => PeekMessages,
            _ => GetMessages,
        },
        (QueueResource::Messages { .. }, _, None, Verb::Post) => PutMessage,
        (QueueResource::Messages { .. }, _, None, Verb::Delete) => ClearMessages,
        (QueueResource::Message { .. }, _, None, Verb::Put) => UpdateMessage,
        (QueueResource::Message { .. }, _, None, Verb::Delete) => DeleteMessage,
        (QueueResource::Messages { .. } | QueueResource::Message { .. }, _, None, _) => return Err(unsupported_verb()),
        _ => return Err(unknown_parameter(query)),
    })
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::ErrorCode;

    use super::*;

    fn resolved(verb: &str, path: &str, query: &str) -> Result<Operation, ErrorCode> {
        let resource = QueueResource::parse(path).unwrap();
        let query = QueryString::parse(query).unwrap();
        resolve_queue(Verb::parse(verb).unwrap(), &resource, &query).map_err(|error| error.code)
    }

    #[test]
    fn method_path_and_query_name_the_operation() {
        use Operation::*;
        for (verb, path, query, expected) in [
            ("GET", "/", "comp=list&prefix=a", ListQueues),
            ("GET", "/", "restype=service&comp=properties", GetQueueServiceProperties),
            ("PUT", "/", "restype=service&comp=properties", SetQueueServiceProperties),
            ("GET", "/", "restype=service&comp=stats", GetQueueServiceStats),
            ("PUT", "/jobs", "timeout=5", CreateQueue),
            ("DELETE", "/jobs", "", DeleteQueue),
            ("HEAD", "/jobs", "comp=metadata", GetQueueMetadata),
            ("PUT", "/jobs", "comp=metadata", SetQueueMetadata),
            ("GET", "/jobs", "comp=acl", GetQueueACL),
            ("PUT", "/jobs", "comp=acl", SetQueueACL),
            ("POST", "/jobs/messages", "messagettl=-1", PutMessage),
            ("GET", "/jobs/messages", "numofmessages=32", GetMessages),
            ("GET", "/jobs/messages", "peekonly=false", GetMessages),
            ("GET", "/jobs/messages", "peekonly=True", PeekMessages),
            ("DELETE", "/jobs/messages", "", ClearMessages),
            ("PUT", "/jobs/messages/1", "popreceipt=x", UpdateMessage),
            ("DELETE", "/jobs/messages/1", "popreceipt=x", DeleteMessage),
            ("OPTIONS", "/jobs", "", QueuePreflightRequest),
        ] {
            assert_eq!(resolved(verb, path, query), Ok(expected), "{verb} {path}?{query}");
        }
    }

    #[test]
    fn what_no_resource_has_is_refused() {
        for (verb, path, query, code) in [
            ("POST", "/", "comp=list", ErrorCode::UnsupportedHttpVerb),
            ("GET", "/", "", ErrorCode::MissingRequiredQueryParameter),
            ("GET", "/", "comp=properties", ErrorCode::MissingRequiredQueryParameter),
            ("GET", "/", "comp=other", ErrorCode::InvalidQueryParameterValue),
            ("POST", "/jobs", "", ErrorCode::UnsupportedHttpVerb),
            ("GET", "/jobs", "comp=lease", ErrorCode::InvalidQueryParameterValue),
            ("PUT", "/jobs/messages", "", ErrorCode::UnsupportedHttpVerb),
            ("GET", "/jobs/messages/1", "", ErrorCode::UnsupportedHttpVerb),
        ] {
            assert_eq!(resolved(verb, path, query), Err(code), "{verb} {path}?{query}");
        }
    }
}
