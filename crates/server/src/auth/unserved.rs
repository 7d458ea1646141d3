//! Requests that ask for what Azure documents and this server does not do. They are refused: a request that was accepted
//! and not done would be a surprise on the day it matters. Names that no document has are ignored, as Azure does.

use http::HeaderMap;
use tablerock_protocol::{ErrorCode, QueryString, ServiceError};

use crate::operation::Operation;

/// Rejects a request with a header or a parameter that the operation does not act on.
pub(super) fn check(operation: Operation, headers: &HeaderMap, query: &QueryString<'_>) -> Result<(), ServiceError> {
    if !operation.has_refusals() {
        return Ok(());
    }
    for (name, value) in headers {
        // An empty header is no header.
        if name.as_str().starts_with("x-ms-") && !value.is_empty() && operation.refuses(name.as_str()) {
            return Err(ServiceError::new(ErrorCode::UnsupportedHeader).detail("HeaderName", name.as_str()));
        }
    }
    for (name, value) in query.pairs() {
        if !value.is_empty() && operation.refuses(&name.to_ascii_lowercase()) {
            return Err(
                ServiceError::new(ErrorCode::UnsupportedQueryParameter).detail("QueryParameterName", name.as_ref())
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(operation: Operation, headers: &[(&'static str, &'static str)], query: &str) -> Option<ErrorCode> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        check(operation, &headers, &QueryString::parse(query).unwrap()).err().map(|error| error.code)
    }

    #[test]
    fn a_name_that_azure_documents_is_refused_and_any_other_ignored() {
        let hold = [("x-ms-legal-hold", "true")];
        assert_eq!(code(Operation::PutBlob, &hold, ""), Some(ErrorCode::UnsupportedHeader));
        assert_eq!(code(Operation::PutBlock, &hold, ""), None, "not documented for blocks");
        assert_eq!(code(Operation::PutBlob, &[("x-ms-legal-hold", "")], ""), None, "empty is absent");
        assert_eq!(code(Operation::PutBlob, &[("x-ms-color", "red")], "color=red"), None);
        let deletion = code(Operation::DeleteBlob, &[], "DeleteType=Permanent");
        assert_eq!(deletion, Some(ErrorCode::UnsupportedQueryParameter));
        assert_eq!(code(Operation::DeleteBlob, &[], "deletetype="), None);
    }
}
