//! Cross-origin requests: the rule of the service's properties that applies to a preflight or an actual request, and
//! with which headers.

use std::fmt;

use crate::{ErrorCode, ServiceError};

/// One rule of the service's properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsRule {
    /// Origins as browsers write them; case matters. `*` is any.
    pub allowed_origins: Vec<String>,
    /// The methods that a cross-origin request may use.
    pub allowed_methods: Vec<CorsMethod>,
    /// Request headers in any case, `prefix*`, or `*` for any.
    pub allowed_headers: Vec<String>,
    /// Response headers in any case, `prefix*`, or `*` for any.
    pub exposed_headers: Vec<String>,
    /// The time for which a browser may cache the response to a preflight.
    pub max_age_seconds: u32,
}

macro_rules! cors_methods {
    ($($method:ident $name:literal,)*) => {
        /// A method that a rule can name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum CorsMethod { $(#[doc = concat!("`", $name, "`.")] $method),* }

        impl CorsMethod {
            /// Reads a method as HTTP does, with regard to case.
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$method),)*
                    _ => None,
                }
            }

            /// Returns the name of the method.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$method => $name),* }
            }
        }
    };
}

cors_methods! {
    Connect "CONNECT",
    Delete "DELETE",
    Get "GET",
    Head "HEAD",
    Merge "MERGE",
    Options "OPTIONS",
    Patch "PATCH",
    Post "POST",
    Put "PUT",
    Trace "TRACE",
}

/// The headers of a preflight request.
#[derive(Debug, Clone, Copy)]
pub struct Preflight<'a> {
    /// The `Origin` header.
    pub origin: Option<&'a str>,
    /// `Access-Control-Request-Method`.
    pub method: Option<&'a str>,
    /// `Access-Control-Request-Headers`.
    pub headers: Option<&'a str>,
}

/// The headers of the response to a preflight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreflightAnswer<'a> {
    /// `Access-Control-Allow-Origin`.
    pub allow_origin: &'a str,
    /// `Access-Control-Allow-Methods`.
    pub allow_methods: &'a str,
    /// Absent when the request asked for no headers.
    pub allow_headers: Option<&'a str>,
    /// `Access-Control-Max-Age`.
    pub max_age_seconds: u32,
    /// Whether `Access-Control-Allow-Credentials: true` is sent.
    pub allow_credentials: bool,
}

/// The reason why a preflight fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreflightError {
    /// `Origin` or `Access-Control-Request-Method` is missing.
    MissingHeader,
    /// No rule allows the request.
    NoMatchingRule,
}

/// The CORS headers of the response to an actual request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsAnswer<'a> {
    /// The headers for the origin, if a rule allows it. The request is executed either way.
    pub allowance: Option<CorsAllowance<'a>>,
    /// Whether `Vary: Origin` is sent.
    pub vary_origin: bool,
}

/// The headers by which a browser lets a page read the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsAllowance<'a> {
    /// `Access-Control-Allow-Origin`.
    pub allow_origin: &'a str,
    /// Whether `Access-Control-Allow-Credentials: true` is sent.
    pub allow_credentials: bool,
    exposed_headers: &'a [String],
}

/// Evaluates a preflight by the first rule that allows origin, method and all headers.
pub fn answer_preflight<'a>(
    rules: &'a [CorsRule],
    request: &Preflight<'a>,
) -> Result<PreflightAnswer<'a>, PreflightError> {
    let (Some(origin), Some(method)) = (present(request.origin), present(request.method)) else {
        return Err(PreflightError::MissingHeader);
    };
    let headers = present(request.headers);
    let rule = rules
        .iter()
        .find(|rule| rule.allows(origin, method) && rule.allows_headers(headers.unwrap_or_default()))
        .ok_or(PreflightError::NoMatchingRule)?;
    let (allow_origin, allow_credentials) = rule.answered_origin(origin);
    Ok(PreflightAnswer {
        allow_origin,
        allow_methods: method,
        allow_headers: headers,
        max_age_seconds: rule.max_age_seconds,
        allow_credentials,
    })
}

/// Evaluates an actual request by the first rule that allows origin and method.
pub fn answer_request<'a>(rules: &'a [CorsRule], origin: Option<&'a str>, method: &str) -> CorsAnswer<'a> {
    let matching = present(origin).and_then(|origin| {
        let rule = rules.iter().find(|rule| rule.allows(origin, method))?;
        Some((origin, rule))
    });
    // A response that is the same for every origin may be cached for all of them.
    let depends_on_origin = match matching {
        Some((_, rule)) => !rule.allows_any_origin(),
        None => !rules.is_empty(),
    };
    let allowance = matching.map(|(origin, rule)| {
        let (allow_origin, allow_credentials) = rule.answered_origin(origin);
        CorsAllowance { allow_origin, allow_credentials, exposed_headers: &rule.exposed_headers }
    });
    CorsAnswer { allowance, vary_origin: depends_on_origin && matches!(method, "GET" | "HEAD") }
}

impl CorsAllowance<'_> {
    /// The value of `Access-Control-Expose-Headers` for a response with these headers, the service's way: by
    /// name, even where the rule has a wildcard. `None` when nothing is exposed.
    pub fn expose_headers<'h>(&self, answer_headers: impl IntoIterator<Item = &'h str>) -> Option<String> {
        let exposed = answer_headers.into_iter().filter(|name| {
            !is_always_exposed(name) && self.exposed_headers.iter().any(|pattern| matches_header(pattern, name))
        });
        let value = exposed.collect::<Vec<_>>().join(",");
        (!value.is_empty()).then_some(value)
    }
}

/// The headers that browsers show to any page that may read the response.
fn is_always_exposed(name: &str) -> bool {
    ["Cache-Control", "Content-Language", "Content-Type", "Expires", "Last-Modified", "Pragma"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

impl CorsRule {
    fn allows(&self, origin: &str, method: &str) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed == "*" || allowed == origin)
            && self.allowed_methods.iter().any(|allowed| allowed.as_str() == method)
    }

    fn allows_headers(&self, list: &str) -> bool {
        let mut headers = list.split(',').map(str::trim_ascii).filter(|name| !name.is_empty());
        headers.all(|name| self.allowed_headers.iter().any(|pattern| matches_header(pattern, name)))
    }

    fn allows_any_origin(&self) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed == "*")
    }

    /// The origin to return, and whether credentials are allowed: browsers reject them with a `*`, and
    /// the service leaves them out there.
    fn answered_origin<'a>(&self, origin: &'a str) -> (&'a str, bool) {
        if self.allows_any_origin() { ("*", false) } else { (origin, true) }
    }
}

fn matches_header(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => {
            name.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
        }
        None => pattern.eq_ignore_ascii_case(name),
    }
}

fn present(header: Option<&str>) -> Option<&str> {
    header.map(str::trim_ascii).filter(|value| !value.is_empty())
}

impl From<PreflightError> for ServiceError {
    fn from(error: PreflightError) -> Self {
        match error {
            PreflightError::MissingHeader => {
                Self::with_message(ErrorCode::InvalidHeaderValue, "A required CORS header is not present.")
            }
            PreflightError::NoMatchingRule => ErrorCode::CorsPreflightFailure.into(),
        }
    }
}

impl fmt::Display for PreflightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingHeader => "a required CORS header is not present",
            Self::NoMatchingRule => "no CORS rule matches the request",
        })
    }
}

impl std::error::Error for PreflightError {}
