//! Shared Key: the `Authorization` header, the strings that it signs and the check of the request's date.

mod authorization;
mod header;
mod header_order;
mod request_date;
mod secondary_path;
mod table;

pub use authorization::{Authorization, AuthorizationSyntaxError, SharedKeyScheme, parse_authorization};
pub use header::{HeaderRequestParts, SIGNED_HEADERS};
pub use request_date::{REQUEST_SKEW_SECONDS_MAX, RequestDateError, check_request_date};
pub use table::TableRequestParts;
