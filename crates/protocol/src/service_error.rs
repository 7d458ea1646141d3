//! An error response: a row of the table of codes, with the details of the situation.

use std::borrow::Cow;

use crate::ErrorCode;

/// The text of an `InvalidInput` for a body that could not be read.
const BODY_UNREADABLE: &str = "An error occurred while processing this request.";

/// An error, as the client reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceError {
    /// The error code.
    pub code: ErrorCode,
    /// The HTTP status.
    pub status: u16,
    /// The message for the client.
    pub message: Cow<'static, str>,
    /// Raised by the service's early validation, whose responses lack `Cache-Control`.
    pub early: bool,
    /// The zero-based operation of a group transaction that failed.
    pub index: Option<usize>,
    /// Elements next to `Message` in the bodies of queues and blobs, such as `QueryParameterName`.
    pub details: Vec<(&'static str, String)>,
    /// Why it failed, for the server's log. It never reaches the client.
    pub reason: Option<Box<str>>,
}

impl ServiceError {
    /// Returns an error with the status and message of its code.
    pub fn new(code: ErrorCode) -> Self {
        let early = matches!(code, ErrorCode::TableNotFound | ErrorCode::OutOfRangeInput);
        Self {
            code,
            status: code.status(),
            message: Cow::Borrowed(code.message()),
            early,
            index: None,
            details: Vec::new(),
            reason: None,
        }
    }

    /// Returns an error with a message of its own.
    pub fn with_message(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::new(code) }
    }

    /// `InvalidInput` for a body that is not what the operation needs.
    pub fn unreadable_body() -> Self {
        Self::with_message(ErrorCode::InvalidInput, BODY_UNREADABLE)
    }

    /// `OutOfRangeInput` that names the parameter and shows its value.
    pub fn parameter_out_of_range(name: &str, value: &str) -> Self {
        let message = format!("The '{name}' parameter of value '{value}' is out of range.");
        Self::with_message(ErrorCode::OutOfRangeInput, message)
    }

    /// `InvalidHeaderValue` that shows the header and what it held.
    pub fn invalid_header(name: &str, value: &str) -> Self {
        Self::new(ErrorCode::InvalidHeaderValue).detail("HeaderName", name).detail("HeaderValue", value)
    }

    /// `MissingRequiredHeader` that names the header.
    pub fn missing_header(name: &str) -> Self {
        Self::new(ErrorCode::MissingRequiredHeader).detail("HeaderName", name)
    }

    /// `InvalidQueryParameterValue` with the parameter and the reason.
    pub fn invalid_parameter(name: &str, value: &str, reason: &str) -> Self {
        let error = Self::new(ErrorCode::InvalidQueryParameterValue);
        error.detail("QueryParameterName", name).detail("QueryParameterValue", value).detail("Reason", reason)
    }

    /// `MissingRequiredQueryParameter` that names the parameter.
    pub fn missing_parameter(name: &str) -> Self {
        Self::new(ErrorCode::MissingRequiredQueryParameter).detail("QueryParameterName", name)
    }

    /// `OutOfRangeQueryParameterValue` with the parameter, its value and the bounds.
    pub fn parameter_outside<T: std::fmt::Display>(
        name: &str,
        value: &str,
        allowed: &std::ops::RangeInclusive<T>,
    ) -> Self {
        let error = Self::new(ErrorCode::OutOfRangeQueryParameterValue);
        let error = error.detail("QueryParameterName", name).detail("QueryParameterValue", value);
        error.detail("MinimumAllowed", allowed.start().to_string()).detail("MaximumAllowed", allowed.end().to_string())
    }

    /// `CannotVerifyCopySource` with the status, code and message of the error of a copy's source.
    pub fn copy_source(source: Self) -> Self {
        let error = Self::with_message(ErrorCode::CannotVerifyCopySource, source.message.clone()).status(source.status);
        let error = Self { reason: source.reason, ..error };
        error
            .detail(Self::COPY_SOURCE_STATUS, source.status.to_string())
            .detail(Self::COPY_SOURCE_CODE, source.code.name())
            .detail("CopySourceErrorMessage", source.message)
    }

    /// The element with the status of a copy's source.
    pub const COPY_SOURCE_STATUS: &str = "CopySourceStatusCode";

    /// The element with the error code of a copy's source.
    pub const COPY_SOURCE_CODE: &str = "CopySourceErrorCode";

    /// Returns the text of an element.
    pub fn detail_text(&self, element: &str) -> Option<&str> {
        self.details.iter().find(|(name, _)| *name == element).map(|(_, text)| text.as_str())
    }

    /// `RequestBodyTooLarge` with the limit.
    pub fn body_too_large(bytes_max: u64) -> Self {
        Self::new(ErrorCode::RequestBodyTooLarge).detail("MaxLimit", bytes_max.to_string())
    }

    /// Adds an element to the bodies of queues and blobs. Those of tables have no place for it.
    #[must_use]
    pub fn detail(mut self, element: &'static str, text: impl Into<String>) -> Self {
        self.details.push((element, text.into()));
        self
    }

    /// Adds the reason that the server's log shows.
    #[must_use]
    pub fn because(mut self, reason: impl Into<Box<str>>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Marks an error that precedes the reading of the request's body.
    #[must_use]
    pub fn early(mut self) -> Self {
        self.early = true;
        self
    }

    /// Replaces the HTTP status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Names the failing operation of a group, unless something nearer to it has named it already.
    #[must_use]
    pub fn at_index(mut self, index: usize) -> Self {
        self.index.get_or_insert(index);
        self
    }
}

impl From<ErrorCode> for ServiceError {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}

impl std::fmt::Display for ServiceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}: {index}:{}", self.code.name(), self.message),
            None => write!(f, "{}: {}", self.code.name(), self.message),
        }
    }
}

impl std::error::Error for ServiceError {}
