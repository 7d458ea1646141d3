//! Batches written down, in the manners that clients have.

use tablerock_protocol::batch::{BatchPart, BatchRequest};

/// How a batch is written. Whatever the manner, it means the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As the newer SDKs do it.
    Plain,
    /// Bare line feeds, whole URLs, blank lines and spaces around bodies, a last boundary without its dashes.
    Odd,
}

impl Manner {
    const fn line_end(self) -> &'static str {
        match self {
            Self::Plain => "\r\n",
            Self::Odd => "\n",
        }
    }

    /// The content type and the body, with boundaries that occur nowhere in the parts.
    pub(super) fn write(self, request: &BatchRequest<'_>) -> (String, Vec<u8>) {
        let parts: Vec<Vec<u8>> = match request {
            BatchRequest::Changeset(parts) => parts.iter().map(|part| self.part(part)).collect(),
            BatchRequest::Query(part) => vec![self.part(part)],
        };
        let occurs = |number: &u32| parts.iter().any(|part| contains(part, &format!("boundary_{number}")));
        let number = (0..).find(|number| !occurs(number)).expect("a batch of bounded length leaves a number free");
        let (outer, inner) = (format!("boundary_{number}"), format!("boundary_{number}_inner"));
        let section = match request {
            BatchRequest::Query(_) => parts.concat(),
            BatchRequest::Changeset(_) => {
                let end = self.line_end();
                let head = format!("Content-Type: multipart/mixed; boundary={inner}{end}{end}");
                [head.into_bytes(), self.enclose(&inner, &parts)].concat()
            }
        };
        (format!("multipart/mixed; boundary={outer}"), self.enclose(&outer, &[section]))
    }

    /// Parts, each of which ends with a line, between boundaries.
    fn enclose(self, boundary: &str, parts: &[Vec<u8>]) -> Vec<u8> {
        let end = self.line_end();
        let mut out = Vec::new();
        for part in parts {
            out.extend_from_slice(format!("--{boundary}{end}").as_bytes());
            out.extend_from_slice(part);
        }
        let dashes = if self == Self::Plain { "--" } else { "" };
        out.extend_from_slice(format!("--{boundary}{dashes}{end}").as_bytes());
        out
    }

    fn part(self, part: &BatchPart<'_>) -> Vec<u8> {
        let end = self.line_end();
        let is_odd = self == Self::Odd;
        let authority = if is_odd && part.target.starts_with('/') { "http://host:1" } else { "" };
        let padding = if is_odd { "\n \r\n" } else { "" };
        let head = format!("Content-Type: application/http{end}Content-Transfer-Encoding: binary{end}{end}");
        let mut out = format!("{head}{} {authority}{} HTTP/1.1{end}", part.method, part.target).into_bytes();
        for (name, value) in &part.headers {
            out.extend_from_slice(format!("{name}: {value}{end}").as_bytes());
        }
        for piece in [end.as_bytes(), padding.as_bytes(), part.body, padding.as_bytes(), end.as_bytes()] {
            out.extend_from_slice(piece);
        }
        out
    }
}

fn contains(bytes: &[u8], wanted: &str) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes())
}
