//! The files that name a keyspace's tables.
//!
//! `current` names the one in use (`v0`, `v1`, …) with its checksum. fjall does not check it: on some damage it panics, and
//! again while it cleans up, which aborts the process without an error message. So this module checks first.
//!
//! `current` is: the number of the file (8 bytes), the XXH3 of its content (16) and `00`. Numbers are little-endian.

use std::fs;
use std::path::Path;

use tablerock_kv::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::failure::translate_io;

const XXH3: u8 = 0;

/// Fails if the file that names a keyspace's tables is missing or damaged.
pub(crate) fn check(keyspace: &Path) -> Result<()> {
    let current = keyspace.join("current");
    if !current.exists() {
        return Err(Error::corrupt(format!("{} is missing; restore the directory from a backup", current.display())));
    }
    let (number, checksum) = parse(&read(&current)?).ok_or_else(|| damaged(&current))?;
    let named = keyspace.join(format!("v{number}"));
    if !named.exists() {
        return Err(damaged(&current));
    }
    if xxh3_128(&read(&named)?) == checksum { Ok(()) } else { Err(damaged(&named)) }
}

fn parse(current: &[u8]) -> Option<(u64, u128)> {
    let (number, rest) = current.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    (rest == [XXH3]).then(|| (u64::from_le_bytes(*number), u128::from_le_bytes(*checksum)))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| translate_io(&format!("cannot read {}", path.display()), error))
}

fn damaged(path: &Path) -> Error {
    Error::corrupt(format!("{} is damaged; restore the directory from a backup", path.display()))
}
