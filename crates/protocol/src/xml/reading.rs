//! Reading a small XML document into a tree, with every bound that a stranger's document needs.
//!
//! No document type is accepted, so there are no entities but the five of XML itself, nothing is fetched and
//! nothing expands. Attributes and namespaces mean nothing to the service and are passed over, but for the one that marks a
//! name as percent-encoded.

use std::borrow::Cow;
use std::str::FromStr;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::{ErrorCode, ServiceError, limits};

/// How deep elements may nest. The deepest document of the service has five levels.
const DEPTH_MAX: usize = 16;

/// An element with what is in it: text, or other elements.
#[derive(Debug, Default)]
pub(crate) struct Element {
    name: String,
    text: String,
    /// It has `Encoded="true"`: its text is percent-encoded, because XML could not write it.
    is_encoded: bool,
    children: Vec<Element>,
}

impl Element {
    /// Reads a document and returns its root element.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, ServiceError> {
        Self::parse_within(document, limits::XML_BODY_BYTES_MAX)
    }

    /// As [`parse`](Self::parse), with a bound of its own for the document.
    pub(crate) fn parse_within(document: &[u8], bytes_max: usize) -> Result<Self, ServiceError> {
        let text = document_text(document, bytes_max).ok_or_else(not_valid)?;
        let mut reader = Reader::from_str(text);
        let mut tree = Tree::default();
        while tree.add(reader.read_event().map_err(|_| not_valid())?).ok_or_else(not_valid)? {}
        tree.root.filter(|_| tree.open.is_empty()).ok_or_else(not_valid)
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn children(&self) -> &[Element] {
        &self.children
    }

    /// Checks that the element holds other elements only, each of which is known and there at most once.
    pub(crate) fn check_children(&self, known: &[&str]) -> Result<(), ServiceError> {
        self.check_no_text()?;
        for (place, child) in self.children.iter().enumerate() {
            if !known.contains(&child.name.as_str()) {
                return Err(ErrorCode::UnsupportedXmlNode.into());
            }
            if self.children[..place].iter().any(|earlier| earlier.name == child.name) {
                return Err(not_valid());
            }
        }
        Ok(())
    }

    /// Checks that the element is a list of elements of one name.
    pub(crate) fn check_list_of(&self, name: &str) -> Result<(), ServiceError> {
        self.check_no_text()?;
        if self.children.iter().all(|child| child.is_named(name)) {
            Ok(())
        } else {
            Err(ErrorCode::UnsupportedXmlNode.into())
        }
    }

    fn check_no_text(&self) -> Result<(), ServiceError> {
        if self.text.trim_ascii().is_empty() { Ok(()) } else { Err(not_valid()) }
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.is_named(name))
    }

    pub(crate) fn required(&self, name: &str) -> Result<&Element, ServiceError> {
        self.child(name).ok_or_else(|| ErrorCode::MissingRequiredXmlNode.into())
    }

    /// The text of an element that has no others in it, exactly as given.
    pub(crate) fn text(&self) -> Result<&str, ServiceError> {
        if self.children.is_empty() { Ok(&self.text) } else { Err(not_valid()) }
    }

    /// The text of a name, decoded where it is marked as encoded.
    pub(crate) fn name_text(&self) -> Result<String, ServiceError> {
        let text = self.text()?;
        if !self.is_encoded {
            return Ok(text.to_owned());
        }
        let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
        decoded.map(Cow::into_owned).map_err(|_| not_valid())
    }

    /// The text next to the elements, exactly as given.
    pub(crate) fn into_own_text(self) -> String {
        self.text
    }

    /// The first child of that name, if this element has the name it should.
    pub(crate) fn into_child(self, name: &str, child: &str) -> Option<Element> {
        let children = if self.is_named(name) { self.children } else { vec![] };
        children.into_iter().find(|element| element.is_named(child))
    }

    /// The text without white space around it, or `None` when nothing is left.
    pub(crate) fn value(&self) -> Result<Option<&str>, ServiceError> {
        let value = self.text()?.trim_ascii();
        Ok((!value.is_empty()).then_some(value))
    }

    /// `true` or `false` in any case; old clients write `True`.
    pub(crate) fn boolean(&self) -> Result<bool, ServiceError> {
        match self.value()? {
            Some(value) if value.eq_ignore_ascii_case("true") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err(ErrorCode::InvalidXmlNodeValue.into()),
        }
    }

    pub(crate) fn number<N: FromStr>(&self) -> Result<N, ServiceError> {
        let number = self.value()?.and_then(|value| value.parse().ok());
        number.ok_or_else(|| ErrorCode::InvalidXmlNodeValue.into())
    }
}

/// The document as text, without its byte order mark. The declared encoding is ignored: all clients send UTF-8,
/// some of them under another name.
fn document_text(document: &[u8], bytes_max: usize) -> Option<&str> {
    if document.len() > bytes_max {
        return None;
    }
    let text = std::str::from_utf8(document).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.chars().all(is_xml_char).then_some(text)
}

/// The characters that XML 1.0 allows, written or by reference.
pub(crate) fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

fn not_valid() -> ServiceError {
    ErrorCode::InvalidXmlDocument.into()
}

/// The tree while it grows.
#[derive(Default)]
struct Tree {
    /// From the root to the innermost element that has begun and not ended.
    open: Vec<Element>,
    root: Option<Element>,
}

impl Tree {
    /// Takes the next piece of the document. `None` when it cannot stand there, `false` when it is the end.
    fn add(&mut self, event: Event<'_>) -> Option<bool> {
        match event {
            Event::Start(start) => self.begin(&start)?,
            Event::Empty(start) => {
                self.begin(&start)?;
                self.end()?;
            }
            Event::End(_) => self.end()?,
            Event::Text(text) => self.add_text(&with_line_feeds(&text))?,
            Event::CData(text) => self.add_text(&with_line_feeds(&text))?,
            Event::GeneralRef(reference) => {
                let referred = resolve(&reference)?;
                self.open.last_mut()?.text.push(referred);
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::DocType(_) => return None,
            Event::Eof => return Some(false),
        }
        Some(true)
    }

    fn begin(&mut self, start: &BytesStart<'_>) -> Option<()> {
        let is_second_root = self.open.is_empty() && self.root.is_some();
        // Repeated attributes are let through: looking for them takes quadratic time.
        let mut is_encoded = false;
        let attributes_are_well_formed = start.attributes().with_checks(false).all(|attribute| {
            attribute.is_ok_and(|attribute| {
                is_encoded |=
                    attribute.key.local_name().into_inner() == "Encoded" && attribute.value.as_ref() == "true";
                true
            })
        });
        if is_second_root || self.open.len() == DEPTH_MAX || !attributes_are_well_formed {
            return None;
        }
        let name = start.local_name().into_inner().to_owned();
        self.open.push(Element { name, is_encoded, ..Element::default() });
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        let element = self.open.pop()?;
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
        Some(())
    }

    fn add_text(&mut self, text: &str) -> Option<()> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            // Only white space may stand outside the root.
            None => return text.trim_ascii().is_empty().then_some(()),
        }
        Some(())
    }
}

/// XML has every end of a line read as one line feed.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The character that a reference stands for.
fn resolve(reference: &str) -> Option<char> {
    match reference {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        numeric => {
            let digits = numeric.strip_prefix('#')?;
            let (digits, radix) = digits.strip_prefix('x').map_or((digits, 10), |hex| (hex, 16));
            let is_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let number = u32::from_str_radix(digits, radix).ok().filter(|_| is_digits)?;
            char::from_u32(number).filter(|referred| is_xml_char(*referred))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &str) -> Option<String> {
        Element::parse(document.as_bytes()).ok().map(|root| root.text().unwrap().to_owned())
    }

    #[test]
    fn text_is_read_through_references_and_sections() {
        assert_eq!(text("<a>x</a>").as_deref(), Some("x"));
        assert_eq!(text("<a/>").as_deref(), Some(""));
        assert_eq!(text("\u{feff}<?xml version='1.0'?><!-- c --><a b='1'> x </a>\n").as_deref(), Some(" x "));
        assert_eq!(text("<a>&lt;&gt;&amp;&apos;&quot;&#65;&#x1F600;</a>").as_deref(), Some("<>&'\"A😀"));
        assert_eq!(text("<a>1<![CDATA[<b>&lt;]]>2<!-- c -->3</a>").as_deref(), Some("1<b>&lt;23"));
        assert_eq!(text("<a>1\r\n2\r3&#13;</a>").as_deref(), Some("1\n2\n3\r"));
    }

    #[test]
    fn what_is_not_one_well_formed_element_is_refused() {
        for document in [
            "",
            " ",
            "x",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>x",
            "x<a/>",
            "<a b></a>",
            "<a",
            "<a>&unknown;</a>",
            "<a>&#0;</a>",
            "<a>&#xFFFE;</a>",
            "<a>&#x110000;</a>",
            "<a>&#+65;</a>",
            "<a>&#;</a>",
            "<a>&</a>",
            "<a>\u{1}</a>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<!DOCTYPE a><a/>",
        ] {
            assert_eq!(text(document), None, "{document:?}");
        }
        assert!(Element::parse(b"<a>\xff</a>").is_err());
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(Element::parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(Element::parse(nested(DEPTH_MAX + 1).as_bytes()).is_err());
        let sized = |length: usize| format!("<a>{}</a>", " ".repeat(length - 7));
        assert!(Element::parse(sized(limits::XML_BODY_BYTES_MAX).as_bytes()).is_ok());
        assert!(Element::parse(sized(limits::XML_BODY_BYTES_MAX + 1).as_bytes()).is_err());
    }
}
