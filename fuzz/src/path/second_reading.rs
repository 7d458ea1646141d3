//! Paths and query strings read a second time, in another way: bytes are decoded by hand, and the key predicate is
//! cut into tokens first and recognised afterwards.

use tablerock_protocol::TableResource;

/// The resource that a path names; `None` if it names nothing.
pub(super) fn resource(path: &str) -> Option<TableResource> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut read = segments.iter().map(|segment| segment_of(segment));
    match segments.len() {
        0 => Some(TableResource::Service),
        1 => only(read.next()??),
        2 => {
            let (first, second) = (read.next()??, read.next()??);
            let has_keys = |segment: &Segment| !matches!(segment.1, Predicate::None | Predicate::Empty);
            (!has_keys(&first)).then(|| TableResource::Nested { table: first.0, with_keys: has_keys(&second) })
        }
        _ => None,
    }
}

type Segment = (String, Predicate);

enum Predicate {
    None,
    Empty,
    Value(String),
    Named(Vec<(String, String)>),
}

fn only((name, predicate): Segment) -> Option<TableResource> {
    let is_tables = name.eq_ignore_ascii_case("tables");
    match predicate {
        Predicate::None if name == "$batch" => Some(TableResource::Batch),
        Predicate::None | Predicate::Empty => {
            Some(if is_tables { TableResource::Tables } else { TableResource::Entities { table: name } })
        }
        Predicate::Value(value) => is_tables.then_some(TableResource::Table { name: value }),
        Predicate::Named(pairs) => {
            let value = |wanted: &str| pairs.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.clone());
            let (partition_key, row_key) = (value("PartitionKey")?, value("RowKey")?);
            let fits = pairs.len() == 2 && !is_tables;
            fits.then_some(TableResource::Entity { table: name, partition_key, row_key })
        }
    }
}

fn segment_of(raw: &str) -> Option<Segment> {
    let decoded = String::from_utf8(percent_decoded(raw.as_bytes())).ok()?;
    match decoded.find('(') {
        None => Some((decoded, Predicate::None)),
        Some(open) => Some((decoded[..open].to_owned(), predicate(&decoded[open + 1..])?)),
    }
}

enum Token {
    Quoted(String),
    Word(String),
    Sign(char),
}

fn predicate(text: &str) -> Option<Predicate> {
    use Token::{Quoted, Sign, Word};
    let mut inner = tokens(text)?;
    let is_closed = matches!(inner.pop()?, Sign(')')) && text.ends_with(')');
    if !is_closed {
        return None;
    }
    if inner.is_empty() {
        return Some(Predicate::Empty);
    }
    if let [Quoted(value)] = inner.as_slice() {
        return Some(Predicate::Value(value.clone()));
    }
    // Every pair is followed by a comma once the last one is, too.
    inner.push(Sign(','));
    let pairs = inner.chunks(4).map(|chunk| match chunk {
        [Word(name), Sign('='), Quoted(value), Sign(',')] => Some((name.clone(), value.clone())),
        _ => None,
    });
    pairs.collect::<Option<_>>().map(Predicate::Named)
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&char) = chars.get(at) {
        at += 1;
        match char {
            ' ' => {}
            '\'' => {
                let mut value = String::new();
                loop {
                    match (*chars.get(at)?, chars.get(at + 1)) {
                        ('\'', Some('\'')) => {
                            value.push('\'');
                            at += 2;
                        }
                        ('\'', _) => {
                            at += 1;
                            break;
                        }
                        (other, _) => {
                            value.push(other);
                            at += 1;
                        }
                    }
                }
                tokens.push(Token::Quoted(value));
            }
            letter if letter.is_alphanumeric() => {
                let end = (at..chars.len()).find(|&end| !chars[end].is_alphanumeric()).unwrap_or(chars.len());
                tokens.push(Token::Word(chars[at - 1..end].iter().collect()));
                at = end;
            }
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    Some(tokens)
}

/// The pairs of a query string; `None` if one of them is not text.
pub(super) fn query(raw: &str) -> Option<Vec<(String, String)>> {
    let parts = raw.split('&').filter(|part| !part.is_empty());
    let decoded = |text: &str| {
        let spaced: Vec<u8> = text.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }).collect();
        String::from_utf8(percent_decoded(&spaced)).ok()
    };
    let pairs = parts.map(|part| match part.find('=') {
        Some(at) => Some((decoded(&part[..at])?, decoded(&part[at + 1..])?)),
        None => Some((decoded(part)?, String::new())),
    });
    pairs.collect()
}

/// A percent sign without two digits stands for itself.
fn percent_decoded(raw: &[u8]) -> Vec<u8> {
    let digit = |at: usize| raw.get(at).and_then(|&byte| (byte as char).to_digit(16)).map(|digit| digit as u8);
    let mut decoded = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        match (raw[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(high * 16 + low);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_the_service_does() {
        let entity = |partition_key: &str, row_key: &str| TableResource::Entity {
            table: "T".into(),
            partition_key: partition_key.into(),
            row_key: row_key.into(),
        };
        assert_eq!(resource("/T(PartitionKey='o''b%2B',RowKey=%27%27)"), Some(entity("o'b+", "")));
        assert_eq!(resource("//T( RowKey = 'r', PartitionKey='p' )"), Some(entity("p", "r")));
        assert_eq!(resource("/tables('x')"), Some(TableResource::Table { name: "x".into() }));
        for path in ["/T('x')", "/T(PartitionKey='a',RowKey='b'", "/T() ", "/T(%FF)", "/a/b/c"] {
            assert_eq!(resource(path), None, "{path}");
        }
        assert_eq!(query("a=%2B+%&&b"), Some(vec![("a".into(), "+ %".into()), ("b".into(), "".into())]));
        assert_eq!(query("a=%ff"), None);
    }
}
