//! The document of Find Blobs by Tags.
//!
//! The service writes it in another way than its lists: a line feed follows the declaration, apostrophes and quotation marks
//! are references, and an element without content has no space.

use super::writing::{DECLARATION, push_element, push_escaped, push_name, push_text};

/// A blob that was found.
#[derive(Debug, Clone)]
pub struct FoundBlobElement<'a> {
    /// The name of the blob.
    pub name: &'a str,
    /// The name of its container.
    pub container: &'a str,
    /// The tags that the expression names, with their values.
    pub tags: Vec<(&'a str, &'a str)>,
}

/// The form of the tags in the document, which depends on the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundTags {
    /// The value of the only tag, or of the first one.
    TagValue,
    /// A set of all tags of the expression.
    TagSet,
}

/// The parameters of the request, which the document repeats.
#[derive(Debug, Clone, Default)]
pub struct FindEcho<'a> {
    /// The expression.
    pub expression: &'a str,
    /// The marker of the request.
    pub marker: Option<&'a str>,
    /// The page size of the request.
    pub max_results: Option<usize>,
}

/// The document of a Find Blobs by Tags.
pub fn render_found_blobs(
    endpoint: &str,
    echo: &FindEcho<'_>,
    found: &[FoundBlobElement<'_>],
    form: FoundTags,
    next: &str,
) -> String {
    let mut out = format!("{DECLARATION}\n<EnumerationResults ServiceEndpoint=\"");
    push_quoted(&mut out, endpoint);
    out.push_str("\">");
    if let Some(marker) = echo.marker {
        push_text(&mut out, "Marker", marker);
    }
    push_element(&mut out, "Where", |out| push_quoted(out, echo.expression));
    if let Some(count) = echo.max_results {
        push_text(&mut out, "MaxResults", &count.to_string());
    }
    if found.is_empty() {
        out.push_str("<Blobs/>");
    } else {
        push_element(&mut out, "Blobs", |out| found.iter().for_each(|blob| push_found(out, blob, form)));
    }
    if next.is_empty() {
        out.push_str("<NextMarker/>");
    } else {
        push_text(&mut out, "NextMarker", next);
    }
    out.push_str("</EnumerationResults>");
    out
}

fn push_found(out: &mut String, blob: &FoundBlobElement<'_>, form: FoundTags) {
    push_element(out, "Blob", |out| {
        push_name(out, "Name", blob.name);
        push_text(out, "ContainerName", blob.container);
        match form {
            FoundTags::TagValue => push_value(out, "TagValue", blob.tags.first().map_or("", |(_, value)| value)),
            FoundTags::TagSet => push_element(out, "Tags", |out| {
                push_element(out, "TagSet", |out| {
                    for (key, value) in &blob.tags {
                        push_element(out, "Tag", |out| {
                            push_text(out, "Key", key);
                            push_value(out, "Value", value);
                        });
                    }
                });
            }),
        }
    });
}

fn push_value(out: &mut String, name: &str, text: &str) {
    if text.is_empty() {
        out.push_str(&format!("<{name}/>"));
    } else {
        push_text(out, name, text);
    }
}

fn push_quoted(out: &mut String, text: &str) {
    let mut escaped = String::with_capacity(text.len());
    push_escaped(&mut escaped, text);
    out.push_str(&escaped.replace('\'', "&apos;").replace('"', "&quot;"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_form_of_the_live_service() {
        let echo = FindEcho { expression: "k='v' AND n>''", marker: Some("m"), max_results: Some(1) };
        let found = [FoundBlobElement { name: "a&b", container: "c", tags: vec![("k", "v"), ("n", "")] }];
        let opening = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
                       <EnumerationResults ServiceEndpoint=\"http://h/\"><Marker>m</Marker>\
                       <Where>k=&apos;v&apos; AND n&gt;&apos;&apos;</Where><MaxResults>1</MaxResults>\
                       <Blobs><Blob><Name>a&amp;b</Name><ContainerName>c</ContainerName>";
        let closing = "</Blob></Blobs><NextMarker>x</NextMarker></EnumerationResults>";
        let set =
            "<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag><Tag><Key>n</Key><Value/></Tag></TagSet></Tags>";
        let render = |form| render_found_blobs("http://h/", &echo, &found, form, "x");
        assert_eq!(render(FoundTags::TagSet), format!("{opening}{set}{closing}"));
        assert_eq!(render(FoundTags::TagValue), format!("{opening}<TagValue>v</TagValue>{closing}"));
        let nothing = render_found_blobs("http://h/", &FindEcho::default(), &[], FoundTags::TagSet, "");
        assert!(nothing.ends_with("<Where /><Blobs/><NextMarker/></EnumerationResults>"), "{nothing}");
    }
}
