//! Headers and parameters that concern the tags of the blob itself. Tags have a permission of their own, in addition to
//! the one of the operation that reads, writes or compares them.

use http::{HeaderMap, HeaderName};
use tablerock_protocol::QueryString;

use super::Operation;
use crate::http::headers::Given as _;

const TAGS: HeaderName = HeaderName::from_static("x-ms-tags");
const IF_TAGS: HeaderName = HeaderName::from_static("x-ms-if-tags");
const COPY_SOURCE_TAGS: HeaderName = HeaderName::from_static("x-ms-copy-source-tag-option");

impl Operation {
    /// Whether a request for this operation reads, writes or compares tags.
    pub(crate) fn concerns_tags(self, headers: &HeaderMap, query: &QueryString<'_>) -> bool {
        let has = |name: &HeaderName| headers.given(name).is_some() && self.knows_header(name.as_str());
        has(&TAGS) || has(&IF_TAGS) || has(&COPY_SOURCE_TAGS) && copies_tags(headers) || self.lists_tags(query)
    }

    fn lists_tags(self, query: &QueryString<'_>) -> bool {
        self == Self::ListBlobs
            && query.value("include").is_some_and(|include| include.split(',').any(|word| is("tags", word.as_bytes())))
    }
}

fn copies_tags(headers: &HeaderMap) -> bool {
    headers.given(&COPY_SOURCE_TAGS).is_some_and(|option| is("COPY", option.as_bytes()))
}

fn is(keyword: &str, text: &[u8]) -> bool {
    text.trim_ascii().eq_ignore_ascii_case(keyword.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concerns(operation: Operation, header: Option<(&'static str, &'static str)>, query: &str) -> bool {
        let headers = header.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        operation.concerns_tags(&headers, &QueryString::parse(query).unwrap())
    }

    #[test]
    fn a_request_concerns_tags_by_a_header_or_parameter_that_its_operation_knows() {
        use Operation::*;
        for (operation, name, value, expected) in [
            (PutBlob, "x-ms-tags", "a=b", true),
            (PutBlob, "x-ms-tags", "", false),
            (PutBlock, "x-ms-tags", "a=b", false),
            (GetBlob, "x-ms-if-tags", "a = 'b'", true),
            (CopyBlobFromURL, "x-ms-copy-source-tag-option", "copy", true),
            (CopyBlobFromURL, "x-ms-copy-source-tag-option", "REPLACE", false),
            (CopyBlob, "x-ms-copy-source-tag-option", "COPY", false),
        ] {
            assert_eq!(concerns(operation, Some((name, value)), ""), expected, "{operation:?} {name}: {value}");
        }
        assert!(
            concerns(ListBlobs, None, "include=metadata,Tags")
                && concerns(ListBlobs, None, "include=copy&include=tags")
        );
        assert!(!concerns(ListBlobs, None, "include=metadata") && !concerns(ListContainers, None, "include=tags"));
    }
}
