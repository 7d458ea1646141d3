//! The method of a request, and the errors of methods and parameters that a resource does not have.

use http::{HeaderMap, Method};
use tablerock_protocol::{ErrorCode, QueryString, ServiceError};

use super::headers::METHOD_TUNNELLED;

/// A method as the service understands it: PATCH and MERGE are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Head,
    Post,
    Put,
    Merge,
    Delete,
    Options,
}

impl Verb {
    pub(crate) fn parse(method: &str) -> Option<Self> {
        Some(match method {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" | "MERGE" => Self::Merge,
            "DELETE" => Self::Delete,
            "OPTIONS" => Self::Options,
            _ => return None,
        })
    }

    /// The verb of a request, with `X-HTTP-Method` taken into account: old clients tunnel through POST.
    pub(crate) fn of(method: &Method, headers: &HeaderMap) -> Result<Self, ServiceError> {
        let verb = Self::parse(method.as_str()).ok_or(ErrorCode::InvalidHttpVerb)?;
        let mut tunnelled = headers.get_all(METHOD_TUNNELLED).iter();
        let Some(value) = tunnelled.next() else { return Ok(verb) };
        if tunnelled.next().is_some() {
            return Err(ErrorCode::XMethodIncorrectCount.into());
        }
        if verb != Self::Post {
            return Err(ErrorCode::XMethodNotUsingPost.into());
        }
        match value.to_str().ok().and_then(Self::parse) {
            Some(verb @ (Self::Put | Self::Merge | Self::Delete)) => Ok(verb),
            _ => Err(ErrorCode::XMethodIncorrectValue.into()),
        }
    }
}

/// The error for a `comp` or `restype` that the resource does not have.
pub(crate) fn unknown_parameter(query: &QueryString<'_>) -> ServiceError {
    let name = if query.value("comp").is_some() { "comp" } else { "restype" };
    match query.value(name) {
        Some(value) => ServiceError::invalid_parameter(name, value, "The resource has no such part."),
        None => ServiceError::missing_parameter("comp"),
    }
}

/// The error for a method that the resource does not have.
pub(crate) fn unsupported_verb() -> ServiceError {
    ErrorCode::UnsupportedHttpVerb.into()
}
