//! The document of Get Page Ranges.

use super::AnsweredPage;
use super::reading::Element;
use super::writing::push_text;
use crate::{ErrorCode, ServiceError};

/// The ranges that a page of a response has at most.
pub const ANSWERED_PAGE_RANGES_MAX: usize = 10_000;

/// The document with so many ranges of the longest numbers.
const LIST_BYTES_MAX: usize = ANSWERED_PAGE_RANGES_MAX * 128;

/// Pages that follow each other, first and last byte included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPages {
    /// The first byte.
    pub first: u64,
    /// The last byte.
    pub last: u64,
    /// Whether they were cleared since the previous snapshot.
    pub is_cleared: bool,
}

/// Returns the document. It has no byte order mark, and a line feed behind the declaration, as the service writes it.
pub fn render_page_list(ranges: impl Iterator<Item = ListedPages>, next: Option<&str>) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<PageList>");
    for ListedPages { first, last, is_cleared } in ranges {
        let name = if is_cleared { "ClearRange" } else { "PageRange" };
        out.push_str(&format!("<{name}><Start>{first}</Start><End>{last}</End></{name}>"));
    }
    if let Some(next) = next {
        push_text(&mut out, "NextMarker", next);
    }
    out.push_str("</PageList>");
    out
}

/// Parses the response to Get Page Ranges.
pub fn parse_page_list(document: &[u8]) -> Result<AnsweredPage<ListedPages>, ServiceError> {
    let root = Element::parse_within(document, LIST_BYTES_MAX)?;
    if !root.is_named("PageList") {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    let is_range = |element: &&Element| element.is_named("PageRange") || element.is_named("ClearRange");
    let read = |element: &Element| {
        let (first, last) = (element.required("Start")?.number()?, element.required("End")?.number()?);
        Ok::<_, ServiceError>(ListedPages { first, last, is_cleared: element.is_named("ClearRange") })
    };
    let items = root.children().iter().filter(is_range).map(read).collect::<Result<_, _>>()?;
    let next_marker = root.child("NextMarker").map(Element::value).transpose()?.flatten();
    Ok(AnsweredPage { items, next_marker: next_marker.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stand_in_their_order_and_a_marker_behind_them() {
        let pages = |first, is_cleared| ListedPages { first, last: first + 511, is_cleared };
        let ranges = [pages(0, false), pages(512, true)];
        let expected = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<PageList>\
            <PageRange><Start>0</Start><End>511</End></PageRange>\
            <ClearRange><Start>512</Start><End>1023</End></ClearRange><NextMarker>m</NextMarker></PageList>";
        assert_eq!(render_page_list(ranges.into_iter(), Some("m")), expected);
        let read = parse_page_list(expected.as_bytes()).unwrap();
        assert_eq!((read.items, read.next_marker.as_deref()), (ranges.to_vec(), Some("m")));
        assert!(parse_page_list(b"<BlockList/>").is_err());
        assert!(render_page_list([].into_iter(), None).ends_with("\n<PageList></PageList>"));
    }
}
