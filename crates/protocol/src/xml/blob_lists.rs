//! The documents of List Containers and List Blobs.

use super::blob_tags::push_tags;
use super::writing::{DECLARATION, push_element, push_escaped, push_name, push_text};
use crate::Metadata;
use crate::blob::Tags;

/// The parameters of the request that both lists repeat.
#[derive(Debug, Clone, Default)]
pub struct ListEcho<'a> {
    /// The prefix of the request.
    pub prefix: Option<&'a str>,
    /// The marker of the request.
    pub marker: Option<&'a str>,
    /// The page size of the request.
    pub max_results: Option<usize>,
    /// The delimiter of the request.
    pub delimiter: Option<&'a str>,
}

impl ListEcho<'_> {
    fn push(&self, out: &mut String) {
        for (name, text) in [("Prefix", self.prefix), ("Marker", self.marker)] {
            if let Some(text) = text {
                push_name(out, name, text);
            }
        }
        if let Some(count) = self.max_results {
            push_text(out, "MaxResults", &count.to_string());
        }
        if let Some(delimiter) = self.delimiter {
            push_name(out, "Delimiter", delimiter);
        }
    }
}

/// An entry of a list: its name and its properties, as elements in the order of the document.
#[derive(Debug, Clone, Default)]
pub struct ListedContainer<'a> {
    /// The name.
    pub name: &'a str,
    /// The names and values of the properties.
    pub properties: Vec<(&'static str, String)>,
    /// Absent unless it was asked for.
    pub metadata: Option<&'a Metadata>,
}

/// An entry of a list of blobs.
#[derive(Debug, Clone)]
pub enum ListedBlob<'a> {
    /// All blobs whose names begin so.
    Prefix(&'a str),
    /// A blob or a snapshot.
    Blob {
        /// The name.
        name: &'a str,
        /// The date of the snapshot.
        snapshot: Option<String>,
        /// The names and values of the properties.
        properties: Vec<(&'static str, String)>,
        /// The metadata, if it was requested.
        metadata: Option<&'a Metadata>,
        /// Whether metadata that was requested is not shown, because a customer's key protects it.
        is_metadata_encrypted: bool,
        /// The tags, if they were requested.
        tags: Option<&'a Tags>,
    },
}

/// The document of a List Containers, without a byte order mark.
pub fn render_containers(endpoint: &str, echo: &ListEcho<'_>, list: &[ListedContainer<'_>], next: &str) -> String {
    let mut out = DECLARATION.to_owned();
    push_opening(&mut out, endpoint, None);
    echo.push(&mut out);
    push_element(&mut out, "Containers", |out| {
        for container in list {
            push_element(out, "Container", |out| {
                push_text(out, "Name", container.name);
                push_properties(out, &container.properties);
                push_metadata(out, container.metadata);
            });
        }
    });
    push_closing(&mut out, next);
    out
}

/// The document of a List Blobs, without a byte order mark.
pub fn render_blobs(
    endpoint: &str,
    container: &str,
    echo: &ListEcho<'_>,
    list: &[ListedBlob<'_>],
    next: &str,
) -> String {
    let mut out = DECLARATION.to_owned();
    push_opening(&mut out, endpoint, Some(container));
    echo.push(&mut out);
    push_element(&mut out, "Blobs", |out| list.iter().for_each(|entry| push_entry(out, entry)));
    push_closing(&mut out, next);
    out
}

fn push_entry(out: &mut String, entry: &ListedBlob<'_>) {
    match entry {
        ListedBlob::Prefix(prefix) => push_element(out, "BlobPrefix", |out| push_name(out, "Name", prefix)),
        ListedBlob::Blob { name, snapshot, properties, metadata, is_metadata_encrypted, tags } => {
            push_element(out, "Blob", |out| {
                push_name(out, "Name", name);
                if let Some(snapshot) = snapshot {
                    push_text(out, "Snapshot", snapshot);
                }
                push_properties(out, properties);
                push_metadata(out, *metadata);
                if *is_metadata_encrypted {
                    out.push_str("<Metadata Encrypted=\"true\" />");
                }
                if let Some(tags) = tags {
                    push_tags(out, tags);
                }
            })
        }
    }
}

fn push_opening(out: &mut String, endpoint: &str, container: Option<&str>) {
    out.push_str("<EnumerationResults ServiceEndpoint=\"");
    push_attribute(out, endpoint);
    if let Some(container) = container {
        out.push_str("\" ContainerName=\"");
        push_attribute(out, container);
    }
    out.push_str("\">");
}

fn push_closing(out: &mut String, next: &str) {
    push_text(out, "NextMarker", next);
    out.push_str("</EnumerationResults>");
}

fn push_attribute(out: &mut String, text: &str) {
    let mut escaped = String::with_capacity(text.len());
    push_escaped(&mut escaped, text);
    out.push_str(&escaped.replace('"', "&quot;"));
}

fn push_properties(out: &mut String, properties: &[(&'static str, String)]) {
    push_element(out, "Properties", |out| properties.iter().for_each(|(name, text)| push_text(out, name, text)));
}

fn push_metadata(out: &mut String, metadata: Option<&Metadata>) {
    if let Some(metadata) = metadata {
        push_element(out, "Metadata", |out| {
            metadata.pairs().iter().for_each(|(name, value)| push_text(out, name, value));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_containers_has_the_form_of_the_live_service() {
        let metadata = Metadata::new(vec![("k".to_owned(), "v".to_owned())]).unwrap();
        let containers = [ListedContainer {
            name: "c1",
            properties: vec![("Etag", "\"0x8D6\"".to_owned())],
            metadata: Some(&metadata),
        }];
        let echo = ListEcho { prefix: Some("c"), max_results: Some(2), ..ListEcho::default() };
        let document = render_containers("https://a.blob.core.windows.net/", &echo, &containers, "/a/c3");
        let wanted = "<EnumerationResults ServiceEndpoint=\"https://a.blob.core.windows.net/\"><Prefix>c</Prefix>\
                      <MaxResults>2</MaxResults><Containers><Container><Name>c1</Name><Properties>\
                      <Etag>\"0x8D6\"</Etag></Properties><Metadata><k>v</k></Metadata></Container></Containers>\
                      <NextMarker>/a/c3</NextMarker></EnumerationResults>";
        assert_eq!(document.strip_prefix(DECLARATION), Some(wanted));
    }

    #[test]
    fn names_that_xml_cannot_write_are_encoded_and_marked() {
        let entries = [
            ListedBlob::Prefix("a&b/"),
            ListedBlob::Blob {
                name: "a\u{1}é",
                snapshot: Some("2019-05-09T00:48:31.3653282Z".to_owned()),
                properties: vec![("Content-Encoding", String::new())],
                metadata: None,
                is_metadata_encrypted: true,
                tags: Some(&Tags::default()),
            },
        ];
        let document = render_blobs("http://h/", "c\"", &ListEcho::default(), &entries, "");
        let wanted = "<EnumerationResults ServiceEndpoint=\"http://h/\" ContainerName=\"c&quot;\"><Blobs><BlobPrefix>\
                      <Name>a&amp;b/</Name></BlobPrefix><Blob><Name Encoded=\"true\">a%01%C3%A9</Name>\
                      <Snapshot>2019-05-09T00:48:31.3653282Z</Snapshot><Properties><Content-Encoding /></Properties>\
                      <Metadata Encrypted=\"true\" /><Tags><TagSet /></Tags></Blob></Blobs><NextMarker /></EnumerationResults>";
        assert_eq!(document.strip_prefix(DECLARATION), Some(wanted));
    }
}
