//! The note of a clean stop: which journals it left, with their lengths and checksums.
//!
//! After a crash the end of the newest journal may be torn, and what is missing there was never acknowledged. After a clean
//! stop nothing may be missing, but a journal that was cut later looks the same. So a clean stop writes this note last of
//! all. The next start compares it with the journals, and removes it durably before it writes anything. A start without a
//! note recovers as after a crash.
//!
//! The checksum covers a journal as a whole. Journals have 256 MiB at most, and the start reads all of them anyway.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use tablerock_kv::{Error, Result};
use xxhash_rust::xxh3::Xxh3;

use crate::durable::{replace_file, sync_directory};
use crate::failure::translate_io;
use crate::{LocationError, journal};

pub(crate) const FILE_NAME: &str = "tablerock-clean-stop";
const HEADING: &str = "Tablerock clean stop";
const READ_BYTES: usize = 1 << 20;

/// The journals of a store, by their names.
type Journals = BTreeMap<String, Fingerprint>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    bytes: u64,
    checksum: u128,
}

/// Returns whether a directory has a note.
pub(crate) fn is_written(location: &Path) -> bool {
    location.join(FILE_NAME).exists()
}

/// Writes the note. The database is closed, so its journals do not change any more.
pub(crate) fn write(location: &Path, data: &Path) -> Result<()> {
    let write = || {
        let journals = fingerprints(data)?;
        // What the note names must not be lost after it.
        for (_, path) in journal::named(data)? {
            File::options().read(true).write(true).open(path)?.sync_all()?;
        }
        // A journal that was removed must not come back after a power cut: the next start would find one too many.
        sync_directory(data)?;
        replace_file(&location.join(FILE_NAME), &encode(&journals))
    };
    write().map_err(|error| translate_io(&format!("cannot write {}", location.join(FILE_NAME).display()), error))
}

/// Fails if there is a note and the journals are not the ones it names.
pub(crate) fn check(location: &Path, data: &Path) -> Result<()> {
    let path = location.join(FILE_NAME);
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(translate_io(&format!("cannot read {}", path.display()), error)),
    };
    let differs = |difference| {
        Err::<(), Error>(LocationError::Changed { location: location.to_owned(), difference }.into_error())
    };
    let Some(left) = parse(&text) else { return differs(format!("{FILE_NAME} is damaged")) };
    let found = fingerprints(data).map_err(|error| translate_io(&format!("cannot read {}", data.display()), error))?;
    difference(&left, &found).map_or(Ok(()), differs)
}

/// Removes the note durably, so that no later state is compared with it.
pub(crate) fn remove(location: &Path) -> Result<()> {
    let path = location.join(FILE_NAME);
    let removed = match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed.and_then(|()| sync_directory(location)),
    };
    removed.map_err(|error| translate_io(&format!("cannot remove {}", path.display()), error))
}

/// Reads all journals.
fn fingerprints(data: &Path) -> io::Result<Journals> {
    let mut buffer = vec![0; READ_BYTES];
    let mut journals = Journals::new();
    for (name, path) in journal::named(data)? {
        let mut file = File::open(path)?;
        let (mut bytes, mut hasher) = (0, Xxh3::new());
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            hasher.update(&buffer[..length]);
            bytes += length as u64;
        }
        journals.insert(name, Fingerprint { bytes, checksum: hasher.digest128() });
    }
    Ok(journals)
}

fn encode(journals: &Journals) -> String {
    let line = |(name, journal): (&String, &Fingerprint)| {
        format!("journal: {name} {} {:032x}\n", journal.bytes, journal.checksum)
    };
    format!("{HEADING}\n{}", journals.iter().map(line).collect::<String>())
}

fn parse(text: &str) -> Option<Journals> {
    let lines = text.strip_prefix(HEADING)?.strip_prefix('\n')?.strip_suffix('\n')?;
    let journal = |line: &str| {
        let mut fields = line.strip_prefix("journal: ")?.split(' ');
        let (name, bytes, checksum) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
        let checksum = u128::from_str_radix(checksum, 16).ok()?;
        fields.next().is_none().then(|| (name.to_owned(), Fingerprint { bytes, checksum }))
    };
    lines.lines().map(journal).collect()
}

fn difference(left: &Journals, found: &Journals) -> Option<String> {
    let changed = left.iter().find_map(|(name, left)| match found.get(name) {
        None => Some(format!("store/{name} is missing")),
        Some(found) if found.bytes != left.bytes => {
            Some(format!("store/{name} has {} bytes instead of {}", found.bytes, left.bytes))
        }
        Some(found) if found.checksum != left.checksum => Some(format!("store/{name} has other content")),
        Some(_) => None,
    });
    let added = || found.keys().find(|name| !left.contains_key(*name)).map(|name| format!("store/{name} was added"));
    changed.or_else(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journals(of: &[(&str, u64, u128)]) -> Journals {
        of.iter().map(|&(name, bytes, checksum)| (name.to_owned(), Fingerprint { bytes, checksum })).collect()
    }

    #[test]
    fn a_note_is_read_as_it_was_written_and_damage_shows() {
        let left = journals(&[("7.jnl", 90, u128::MAX), ("8.jnl", 0, 1)]);
        let text = encode(&left);
        assert_eq!(parse(&text), Some(left.clone()));
        assert_ne!(parse(&text[..text.len() - 1]), Some(left), "a note without its end");
        for damaged in ["", "Tablerock clean stop", "Tablerock clean stop\njournal: 7.jnl 90\n", "x\n"] {
            assert_eq!(parse(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn every_difference_is_named() {
        let left = journals(&[("7.jnl", 90, 5), ("8.jnl", 80, 6)]);
        assert_eq!(difference(&left, &left), None);
        for (found, expected) in [
            (journals(&[("7.jnl", 90, 5)]), "store/8.jnl is missing"),
            (journals(&[("7.jnl", 89, 5), ("8.jnl", 80, 6)]), "store/7.jnl has 89 bytes instead of 90"),
            (journals(&[("7.jnl", 90, 5), ("8.jnl", 80, 7)]), "store/8.jnl has other content"),
            (journals(&[("7.jnl", 90, 5), ("8.jnl", 80, 6), ("9.jnl", 1, 1)]), "store/9.jnl was added"),
        ] {
            assert_eq!(difference(&left, &found).as_deref(), Some(expected));
        }
    }
}
