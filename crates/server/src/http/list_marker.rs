//! The markers of List Queues and List Containers: `/account/name`, as on the live service.

use tablerock_protocol::{ErrorCode, ServiceError};

/// Returns the name at which the page begins. Any other form is out of range.
pub(crate) fn parse<'m>(account: &str, marker: &'m str) -> Result<&'m str, ServiceError> {
    let name =
        marker.strip_prefix('/').and_then(|rest| rest.strip_prefix(account)).and_then(|rest| rest.strip_prefix('/'));
    name.ok_or_else(|| ErrorCode::OutOfRangeInput.into())
}

/// Returns the marker of the page that begins with a name.
pub(crate) fn write(account: &str, name: &str) -> String {
    ["/", account, "/", name].concat()
}
