//! Parses the shim's record. `crash/shim/src/record.rs` writes it.

use std::fs;
use std::path::Path;

/// A change or sync below the watched folder. Paths are relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Create,
    Truncate(u64),
    Write(u64, Vec<u8>),
    Rename(String),
    Unlink,
    MakeDirectory,
    RemoveDirectory,
    /// A sync by its number, which is unique within a process.
    SyncBegin(u64),
    SyncEnd(u64),
    SyncFail(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub path: String,
    pub event: Event,
    /// The length of the record including this line.
    pub end: u64,
}

/// All events in order.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub lines: Vec<Line>,
}

impl Record {
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = |after: &[u8]| (bytes.len() - after.len()) as u64;
            let (line, after) = parse_line(rest).ok_or_else(|| format!("the record is broken after {lines:?}"))?;
            rest = after;
            lines.push(Line { end: end(rest), ..line });
        }
        Ok(Self { lines })
    }

    /// The indices of lines that end a sync.
    pub fn syncs(&self) -> Vec<usize> {
        let is_sync = |line: &Line| matches!(line.event, Event::SyncEnd(_));
        self.lines.iter().enumerate().filter(|(_, line)| is_sync(line)).map(|(index, _)| index).collect()
    }
}

fn parse_line(bytes: &[u8]) -> Option<(Line, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (body, after) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (kind, body) = body.split_first()?;
    let (number, body) = body.split_first_chunk::<8>()?;
    let number = u64::from_le_bytes(*number);
    let (path_length, body) = body.split_first_chunk::<2>()?;
    let (path, body) = body.split_at_checked(usize::from(u16::from_le_bytes(*path_length)))?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let event = match kind {
        1 => Event::Create,
        2 => Event::Truncate(number),
        3 => Event::Write(number, body.to_vec()),
        4 => Event::Rename(text(body)?),
        5 => Event::Unlink,
        6 => Event::MakeDirectory,
        7 => Event::RemoveDirectory,
        8 => Event::SyncBegin(number),
        9 => Event::SyncEnd(number),
        10 => Event::SyncFail(number),
        _ => return None,
    };
    Some((Line { path: text(path)?, event, end: 0 }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: u8, number: u64, path: &str, rest: &[u8]) -> Vec<u8> {
        let mut body = vec![kind];
        body.extend(number.to_le_bytes());
        body.extend((path.len() as u16).to_le_bytes());
        body.extend(path.as_bytes());
        body.extend(rest);
        [&(body.len() as u32).to_le_bytes(), body.as_slice()].concat()
    }

    #[test]
    fn lines_come_back_with_their_ends() {
        let first = line(3, 7, "a/b", b"xyz");
        let second = line(4, 0, "a", b"c");
        let record = Record::parse(&[first.clone(), second.clone()].concat()).unwrap();
        let write = Line { path: "a/b".into(), event: Event::Write(7, b"xyz".to_vec()), end: first.len() as u64 };
        assert_eq!(record.lines[0], write);
        assert_eq!(record.lines[1].event, Event::Rename("c".into()));
        assert_eq!(record.lines[1].end, (first.len() + second.len()) as u64);
    }

    #[test]
    fn a_broken_record_is_not_mistaken_for_a_short_one() {
        let whole = line(5, 0, "a", b"");
        assert!(Record::parse(&whole[..whole.len() - 1]).is_err());
        assert!(Record::parse(&line(11, 0, "a", b"")).is_err());
    }
}
