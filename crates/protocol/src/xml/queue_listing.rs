//! The response to List Queues.

use super::writing::{DECLARATION, push_element, push_escaped, push_name, push_text};
use crate::Metadata;

/// A page of queues. The first three fields repeat what was asked for, where it was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueListing<'a> {
    /// The URL of the service.
    pub service_endpoint: &'a str,
    /// The prefix of the request.
    pub prefix: Option<&'a str>,
    /// The marker of the request.
    pub marker: Option<&'a str>,
    /// The page size of the request.
    pub max_results: Option<usize>,
    /// Names, with metadata if it was asked for.
    pub queues: Vec<(&'a str, Option<&'a Metadata>)>,
    /// Where the next page starts; empty after the last one.
    pub next_marker: String,
}

impl QueueListing<'_> {
    /// The document, without a byte order mark.
    pub fn render(&self) -> String {
        let mut out = DECLARATION.to_owned();
        out.push_str("<EnumerationResults ServiceEndpoint=\"");
        push_escaped(&mut out, self.service_endpoint);
        out.push_str("\">");
        if let Some(prefix) = self.prefix {
            push_name(&mut out, "Prefix", prefix);
        }
        if let Some(marker) = self.marker {
            push_name(&mut out, "Marker", marker);
        }
        if let Some(max_results) = self.max_results {
            push_text(&mut out, "MaxResults", &max_results.to_string());
        }
        push_element(&mut out, "Queues", |out| {
            for (name, metadata) in &self.queues {
                push_element(out, "Queue", |out| push_queue(out, name, *metadata));
            }
        });
        push_text(&mut out, "NextMarker", &self.next_marker);
        out.push_str("</EnumerationResults>");
        out
    }
}

fn push_queue(out: &mut String, name: &str, metadata: Option<&Metadata>) {
    push_text(out, "Name", name);
    if let Some(metadata) = metadata {
        push_element(out, "Metadata", |out| {
            for (name, value) in metadata.pairs() {
                push_text(out, name, value);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_repeats_what_was_asked_for() {
        let metadata = Metadata::new(vec![("Val1".to_owned(), "a&b".to_owned())]).unwrap();
        let none = Metadata::default();
        let listing = QueueListing {
            service_endpoint: "http://127.0.0.1:10001/acct/",
            prefix: Some("q"),
            marker: Some("/acct/q1"),
            max_results: Some(3),
            queues: vec![("q1", Some(&metadata)), ("q2", Some(&none)), ("q3", None)],
            next_marker: "/acct/q4".to_owned(),
        };
        let wanted = r#"<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="http://127.0.0.1:10001/acct/"><Prefix>q</Prefix><Marker>/acct/q1</Marker><MaxResults>3</MaxResults><Queues><Queue><Name>q1</Name><Metadata><Val1>a&amp;b</Val1></Metadata></Queue><Queue><Name>q2</Name><Metadata /></Queue><Queue><Name>q3</Name></Queue></Queues><NextMarker>/acct/q4</NextMarker></EnumerationResults>"#;
        assert_eq!(listing.render(), wanted);
        let unwritable = QueueListing { prefix: Some("q\u{1}"), ..listing }.render();
        assert!(unwritable.contains(r#"<Prefix Encoded="true">q%01</Prefix>"#), "{unwritable}");
        let empty = QueueListing::default().render();
        assert!(empty.ends_with(r#"ServiceEndpoint=""><Queues /><NextMarker /></EnumerationResults>"#), "{empty}");
    }
}
