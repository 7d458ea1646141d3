//! Requests to the Queue service: method, path and query become an operation with its target.

use tablerock_protocol::{QueryString, QueueName, QueueResource, ServiceError};

use crate::auth::requests;
use crate::http::verb::{Verb, unknown_parameter, unsupported_verb};

requests! {
    /// A request to the Queue service.
    QueueRequest {
        ListQueues
        CreateQueue(&'a QueueName)
        DeleteQueue(&'a QueueName)
        GetQueueMetadata(&'a QueueName)
        SetQueueMetadata(&'a QueueName)
        GetQueueACL(&'a QueueName)
        SetQueueACL(&'a QueueName)
        PutMessage(&'a QueueName)
        GetMessages(&'a QueueName)
        PeekMessages(&'a QueueName)
        ClearMessages(&'a QueueName)
        UpdateMessage(MessageAddress<'a>)
        DeleteMessage(MessageAddress<'a>)
        GetQueueServiceProperties
        SetQueueServiceProperties
        GetQueueServiceStats
        QueuePreflightRequest
    }
}

/// A message in a URL. The id is as sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageAddress<'a> {
    pub(crate) queue: &'a QueueName,
    pub(crate) id: &'a str,
}

impl<'a> QueueRequest<'a> {
    pub(crate) fn parse(
        verb: Verb,
        resource: &'a QueueResource,
        query: &QueryString<'_>,
    ) -> Result<Self, ServiceError> {
        if verb == Verb::Options {
            return Ok(Self::QueuePreflightRequest);
        }
        match (resource, query.keyword("comp").as_deref()) {
            (QueueResource::Service, comp) => Self::parse_service(verb, comp, query),
            (QueueResource::Queue { queue }, comp) => Self::parse_queue(verb, comp, queue, query),
            (QueueResource::Messages { queue }, None) => match verb {
                Verb::Get => match query.keyword("peekonly").as_deref() {
                    Some("true") => Ok(Self::PeekMessages(queue)),
                    Some("false") | None => Ok(Self::GetMessages(queue)),
                    // Messages must not be taken by a client that perhaps meant to look at them.
                    Some(other) => Err(ServiceError::invalid_parameter("peekonly", other, "Not true or false.")),
                },
                Verb::Post => Ok(Self::PutMessage(queue)),
                Verb::Delete => Ok(Self::ClearMessages(queue)),
                _ => Err(unsupported_verb()),
            },
            (QueueResource::Message { queue, id }, None) => match verb {
                Verb::Put => Ok(Self::UpdateMessage(MessageAddress { queue, id })),
                Verb::Delete => Ok(Self::DeleteMessage(MessageAddress { queue, id })),
                _ => Err(unsupported_verb()),
            },
            (QueueResource::Messages { .. } | QueueResource::Message { .. }, Some(_)) => Err(unknown_parameter(query)),
        }
    }

    fn parse_service(verb: Verb, comp: Option<&str>, query: &QueryString<'_>) -> Result<Self, ServiceError> {
        match (query.keyword("restype").as_deref(), comp, verb) {
            (None, Some("list"), Verb::Get) => Ok(Self::ListQueues),
            (Some("service"), Some("properties"), Verb::Get) => Ok(Self::GetQueueServiceProperties),
            (Some("service"), Some("properties"), Verb::Put) => Ok(Self::SetQueueServiceProperties),
            (Some("service"), Some("stats"), Verb::Get) => Ok(Self::GetQueueServiceStats),
            (None, Some("list"), _) | (Some("service"), Some("properties" | "stats"), _) => Err(unsupported_verb()),
            (None, Some("properties" | "stats"), _) => Err(ServiceError::missing_parameter("restype")),
            _ => Err(unknown_parameter(query)),
        }
    }

    fn parse_queue(
        verb: Verb,
        comp: Option<&str>,
        queue: &'a QueueName,
        query: &QueryString<'_>,
    ) -> Result<Self, ServiceError> {
        match (comp, verb) {
            (None, Verb::Put) => Ok(Self::CreateQueue(queue)),
            (None, Verb::Delete) => Ok(Self::DeleteQueue(queue)),
            (Some("metadata"), Verb::Get | Verb::Head) => Ok(Self::GetQueueMetadata(queue)),
            (Some("metadata"), Verb::Put) => Ok(Self::SetQueueMetadata(queue)),
            (Some("acl"), Verb::Get | Verb::Head) => Ok(Self::GetQueueACL(queue)),
            (Some("acl"), Verb::Put) => Ok(Self::SetQueueACL(queue)),
            (None | Some("metadata" | "acl"), _) => Err(unsupported_verb()),
            _ => Err(unknown_parameter(query)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::auth::Request;
    use crate::operation::Operation;
    use tablerock_protocol::ErrorCode;

    use super::*;

    fn parsed(verb: &str, path: &str, query: &str) -> Result<Operation, ErrorCode> {
        let resource = QueueResource::parse(path).unwrap();
        let query = QueryString::parse(query).unwrap();
        let request = QueueRequest::parse(Verb::parse(verb).unwrap(), &resource, &query);
        request.map(|request| request.operation()).map_err(|error| error.code)
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
            ("GET", "/jobs/messages", "PeekOnly=true", PeekMessages),
            ("GET", "/", "RESTYPE=Service&Comp=Properties", GetQueueServiceProperties),
            ("DELETE", "/jobs/messages", "", ClearMessages),
            ("PUT", "/jobs/messages/1", "popreceipt=x", UpdateMessage),
            ("DELETE", "/jobs/messages/1", "popreceipt=x", DeleteMessage),
            ("OPTIONS", "/jobs", "", QueuePreflightRequest),
        ] {
            assert_eq!(parsed(verb, path, query), Ok(expected), "{verb} {path}?{query}");
        }
    }

    #[test]
    fn unknown_methods_and_parameters_are_rejected() {
        for (verb, path, query, code) in [
            ("POST", "/", "comp=list", ErrorCode::UnsupportedHttpVerb),
            ("GET", "/", "", ErrorCode::MissingRequiredQueryParameter),
            ("GET", "/", "comp=properties", ErrorCode::MissingRequiredQueryParameter),
            ("GET", "/", "comp=other", ErrorCode::InvalidQueryParameterValue),
            ("POST", "/jobs", "", ErrorCode::UnsupportedHttpVerb),
            ("GET", "/jobs", "comp=lease", ErrorCode::InvalidQueryParameterValue),
            ("GET", "/jobs/messages", "peekonly=1", ErrorCode::InvalidQueryParameterValue),
            ("GET", "/jobs/messages", "peekonly=true&PeekOnly=false", ErrorCode::InvalidQueryParameterValue),
            ("PUT", "/jobs/messages", "", ErrorCode::UnsupportedHttpVerb),
            ("GET", "/jobs/messages/1", "", ErrorCode::UnsupportedHttpVerb),
        ] {
            assert_eq!(parsed(verb, path, query), Err(code), "{verb} {path}?{query}");
        }
    }
}
