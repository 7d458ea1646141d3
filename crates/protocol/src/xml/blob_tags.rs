//! The index tags of a blob.

use super::reading::Element;
use super::writing::{DECLARATION, push_element, push_text};
use crate::blob::Tags;
use crate::{ErrorCode, ServiceError};

/// Reads the body of a Set Blob Tags.
pub fn parse_tags(document: &[u8]) -> Result<Tags, ServiceError> {
    let root = Element::parse(document)?;
    if !root.is_named("Tags") {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    root.check_children(&["TagSet"])?;
    let set = root.required("TagSet")?;
    set.check_list_of("Tag")?;
    let read = |tag: &Element| {
        tag.check_children(&["Key", "Value"])?;
        Ok((tag.required("Key")?.text()?.to_owned(), tag.required("Value")?.text()?.to_owned()))
    };
    Tags::new(set.children().iter().map(read).collect::<Result<_, ServiceError>>()?)
}

/// The document of a Get Blob Tags, without a byte order mark.
pub fn render_tags(tags: &Tags) -> String {
    let mut out = DECLARATION.to_owned();
    push_tags(&mut out, tags);
    out
}

pub(super) fn push_tags(out: &mut String, tags: &Tags) {
    push_element(out, "Tags", |out| {
        push_element(out, "TagSet", |out| {
            for (key, value) in tags.pairs() {
                push_element(out, "Tag", |out| {
                    push_text(out, "Key", key);
                    push_text(out, "Value", value);
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_as_they_were_set() {
        let tags = Tags::parse_header("a=1&b=").unwrap();
        let document = render_tags(&tags);
        assert!(document.ends_with("<Tag><Key>b</Key><Value /></Tag></TagSet></Tags>"), "{document}");
        assert_eq!(parse_tags(document.as_bytes()).unwrap(), tags);
        assert!(parse_tags(b"<Tags/>").is_err());
        assert!(parse_tags(b"<Tags><TagSet><Tag><Key>a</Key></Tag></TagSet></Tags>").is_err());
    }
}
