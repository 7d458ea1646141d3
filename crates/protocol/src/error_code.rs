//! The service's error codes as one table: variant, HTTP status, default message.
//!
//! The variant's name is the code on the wire. Whatever fails anywhere becomes a [`ServiceError`] that names a
//! row of this table; the HTTP side only has to render it.

use std::borrow::Cow;

macro_rules! error_codes {
    ($($variant:ident $status:literal $message:literal;)*) => {
        /// A code of the service, spelled as on the wire.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($variant),* }

        impl ErrorCode {
            /// Every code, in the table's order.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),*];

            /// The code as the wire spells it.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => stringify!($variant)),* }
            }

            /// The HTTP status that goes with the code.
            pub const fn status(self) -> u16 {
                match self { $(ErrorCode::$variant => $status),* }
            }

            /// The message that the service sends unless the situation has its own text.
            pub const fn message(self) -> &'static str {
                match self { $(ErrorCode::$variant => $message),* }
            }
        }
    };
}

error_codes! {
    AccountIsDisabled 403 "The specified account is disabled.";
    AtomFormatNotSupported 415 "Atom format is not supported.";
    AuthenticationFailed 403 "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.";
    AuthorizationFailure 403 "This request is not authorized to perform this operation.";
    AuthorizationPermissionMismatch 403 "This request is not authorized to perform this operation using this permission.";
    AuthorizationProtocolMismatch 403 "This request is not authorized to perform this operation using this protocol.";
    AuthorizationResourceTypeMismatch 403 "This request is not authorized to perform this operation using this resource type.";
    AuthorizationServiceMismatch 403 "This request is not authorized to perform this operation using this service.";
    AuthorizationSourceIPMismatch 403 "This request is not authorized to perform this operation using this source IP.";
    CommandsInBatchActOnDifferentPartitions 400 "All commands in a batch must operate on same entity group.";
    ConditionNotMet 412 "The condition specified using HTTP conditional header(s) is not met.";
    CorsPreflightFailure 403 "CORS not enabled or no matching rule found for this request.";
    DuplicatePropertiesSpecified 400 "A property is specified more than one time.";
    EntityAlreadyExists 409 "The specified entity already exists.";
    EntityTooLarge 400 "The entity is larger than the maximum allowed size (1MB).";
    HostInformationNotPresent 400 "The required host information is not present in the request. You must send a non-empty Host header or include the absolute URI in the request line.";
    InsufficientAccountPermissions 403 "The account being accessed does not have sufficient permissions to execute this operation.";
    InternalError 500 "Server encountered an internal error. Please try again after some time.";
    InvalidAuthenticationInfo 400 "Authentication information is not given in the correct format. Check the value of Authorization header.";
    InvalidDuplicateRow 400 "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.";
    InvalidHeaderValue 400 "The value for one of the HTTP headers is not in the correct format.";
    InvalidHttpVerb 400 "The HTTP verb specified is invalid - it is not recognized by the server.";
    InvalidInput 400 "One of the request inputs is not valid.";
    InvalidQueryParameterValue 400 "Value for one of the query parameters specified in the request URI is invalid.";
    InvalidResourceName 400 "The specifed resource name contains invalid characters.";
    InvalidUri 400 "The requested URI does not represent any resource on the server.";
    InvalidXmlDocument 400 "XML specified is not syntactically valid.";
    InvalidXmlNodeValue 400 "The value for one of the XML nodes is not in the correct format.";
    JsonFormatNotSupported 415 "JSON format is not supported.";
    JsonVerboseFormatNotSupported 415 "JSON verbose format is not supported.";
    KeyValueTooLarge 400 "The key value is larger than the maximum allowed size (1KB).";
    MediaTypeNotSupported 415 "None of the provided media types are supported";
    MethodNotAllowed 405 "The requested method is not allowed on the specified resource.";
    MissingContentLengthHeader 411 "The Content-Length header was not specified.";
    MissingRequiredHeader 400 "A required HTTP header was not specified.";
    MissingRequiredQueryParameter 400 "A query parameter that's mandatory for this request is not specified.";
    MissingRequiredXmlNode 400 "A required XML node was not specified in the request body.";
    NoAuthenticationInformation 401 "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.";
    NotImplemented 501 "The requested operation is not implemented on the specified resource.";
    OperationTimedOut 500 "The operation could not be completed within the permitted time.";
    OutOfRangeInput 400 "One of the request inputs is out of range.";
    OutOfRangeQueryParameterValue 400 "A query parameter specified in the request URI is outside the permissible range.";
    PropertiesNeedValue 400 "The values are not specified for all properties in the entity.";
    PropertyNameInvalid 400 "The property name is invalid.";
    PropertyNameTooLong 400 "The property name exceeds the maximum allowed length (255).";
    PropertyValueTooLarge 400 "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.";
    RequestBodyTooLarge 413 "The request body is too large and exceeds the maximum permissible limit.";
    RequestUrlFailedToParse 400 "The url in the request could not be parsed.";
    ResourceNotFound 404 "The specified resource does not exist.";
    ServerBusy 503 "The server is currently unable to receive requests. Please retry your request.";
    TableAlreadyExists 409 "The table specified already exists.";
    TableNotFound 404 "The table specified does not exist.";
    TooManyProperties 400 "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.";
    UnsupportedHttpVerb 405 "The resource doesn't support the specified HTTP verb.";
    UnsupportedXmlNode 400 "One of the XML nodes specified in the request body is not supported.";
    UpdateConditionNotSatisfied 412 "The update condition specified in the request was not satisfied.";
    XMethodIncorrectCount 400 "More than one X-HTTP-Method is specified.";
    XMethodIncorrectValue 400 "The specified X-HTTP-Method is invalid.";
    XMethodNotUsingPost 400 "The X-HTTP-Method header was used with a method other than POST.";
}

/// The text of an `InvalidInput` for a body that could not be read.
const BODY_UNREADABLE: &str = "An error occurred while processing this request.";

/// A refusal, as the client will read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceError {
    pub code: ErrorCode,
    pub status: u16,
    pub message: Cow<'static, str>,
    /// Raised by the service's early validation, whose answers lack `Cache-Control`.
    pub early: bool,
    /// The zero-based operation of a group transaction that failed.
    pub index: Option<usize>,
}

impl ServiceError {
    pub fn new(code: ErrorCode) -> Self {
        let early = matches!(code, ErrorCode::TableNotFound | ErrorCode::OutOfRangeInput);
        Self { code, status: code.status(), message: Cow::Borrowed(code.message()), early, index: None }
    }

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

    #[must_use]
    pub fn early(mut self) -> Self {
        self.early = true;
        self
    }

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
