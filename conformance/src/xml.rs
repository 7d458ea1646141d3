//! A reader for the small XML documents of the service: elements, attributes and text, nothing more.

use crate::Outcome;
use crate::expect::Failure;

#[derive(Debug, Default)]
pub struct Element {
    /// With its prefix, as written: `m:error` and `error` are different names.
    pub name: String,
    pub attributes: String,
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the element at a path such as `HourMetrics/RetentionPolicy/Days`.
    pub fn at(&self, path: &str) -> Option<&str> {
        let mut element = self;
        for name in path.split('/') {
            element = element.child(name)?;
        }
        Some(&element.text)
    }

    pub fn names(&self) -> Vec<&str> {
        self.children.iter().map(|child| child.name.as_str()).collect()
    }
}

/// Reads a document: an optional byte order mark, an optional declaration, one root element.
pub fn parse(document: &str) -> Outcome<Element> {
    let malformed = |why: &str| Failure::new(format!("not well-formed XML ({why}): {document}"));
    let mut rest = document.trim_start_matches('\u{feff}').trim_start();
    if rest.starts_with("<?xml") {
        rest = rest.split_once("?>").ok_or_else(|| malformed("unclosed declaration"))?.1;
    }
    let mut open: Vec<Element> = vec![Element::default()];
    while let Some(start) = rest.find('<') {
        let top = open.last_mut().expect("the document element is never closed");
        top.text.push_str(&unescape(&rest[..start]));
        let end = rest.find('>').ok_or_else(|| malformed("unclosed tag"))?;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().filter(|element| element.name == name.trim());
            let parent = open.last_mut().ok_or_else(|| malformed("surplus end tag"))?;
            parent.children.push(closed.ok_or_else(|| malformed("end tag without its start"))?);
            continue;
        }
        let (body, empty) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let (name, attributes) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        let element = Element { name: name.to_owned(), attributes: attributes.trim().to_owned(), ..Element::default() };
        if empty {
            top.children.push(element);
        } else {
            open.push(element);
        }
    }
    let mut document = open.pop().expect("the document element is never closed");
    match (open.is_empty(), document.children.len()) {
        (true, 1) => Ok(document.children.remove(0)),
        _ => Err(malformed("not one closed root element")),
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_text_and_attributes_are_read() {
        let root = parse("\u{feff}<?xml version=\"1.0\"?><a x=\"1\"><b>1 &lt; 2</b><c /></a>").unwrap();
        assert_eq!((root.name.as_str(), root.attributes.as_str()), ("a", "x=\"1\""));
        assert_eq!(root.at("b"), Some("1 < 2"));
        assert_eq!(root.names(), ["b", "c"]);
    }

    #[test]
    fn what_does_not_nest_is_refused() {
        assert!(parse("<a><b></a></b>").is_err());
        assert!(parse("<a>").is_err());
        assert!(parse("").is_err());
    }
}
