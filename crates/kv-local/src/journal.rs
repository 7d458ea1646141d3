//! Repair of fjall's journal after a power cut.
//!
//! Each batch is synced before the next one is written. So a crash leaves at most one torn batch, the last, which was
//! never acknowledged. fjall drops it if the structure is broken, but does not open if only the checksum is wrong, and
//! drops everything after a broken batch in the middle. This module runs first: it cuts a torn end off and reports damage
//! in the middle. A journal that is not the newest was synced before the next was created, so its torn end is damage too.
//!
//! A batch is: `01`, the number of its items (4 bytes), its sequence number (8); the items; `03`, a checksum (8)
//! and `46 4a 4c 03`. An item is: `02`, kind (1), compression (1), keyspace (8), length of key (2), of value (4)
//! and of value as stored (4), then key and value. All numbers are little-endian.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tablerock_kv::{Error, Result};

use crate::failure::translate_io;

/// The versions whose private files this module (fjall) and `manifest` (lsm-tree) parse. A test fails on others.
#[cfg(test)]
pub(crate) const PARSED_VERSIONS: [(&str, &str); 2] = [("fjall", "3.1.13"), ("lsm-tree", "3.1.10")];

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: &[u8] = b"FJL\x03";
const END_BYTES: usize = 1 + 8 + MAGIC.len();

/// Cuts a torn batch off the end of the newest journal; fails if there is damage anywhere else.
pub(crate) fn mend(data: &Path) -> Result<()> {
    let mut journals = numbered(data)?;
    journals.sort();
    let Some((_, newest)) = journals.pop() else { return Ok(()) };
    for (_, path) in journals {
        mend_one(&path, false)?;
    }
    mend_one(&newest, true)
}

fn mend_one(path: &Path, may_be_torn: bool) -> Result<()> {
    let failed = |error| translate_io(&format!("cannot read {}", path.display()), error);
    let mut file = open(path).map_err(failed)?;
    let intact = intact_batches(&mut file).map_err(failed)?;
    let rest = rest_after(&mut file, intact.end).map_err(failed)?;
    if rest.is_empty() {
        return Ok(());
    }
    if !may_be_torn || has_batch_after(&rest) {
        return Err(Error::corrupt(format!(
            "{} is damaged at byte {}, before intact batches; restore the directory from a backup",
            path.display(),
            intact.end
        )));
    }
    tracing::warn!(bytes = rest.len(), "cut off a torn batch, which was never acknowledged");
    file.set_len(intact.end).and_then(|()| file.sync_all()).map_err(failed)
}

/// Returns the number and path of the journal in use.
pub(crate) fn newest(data: &Path) -> Result<Option<(u64, PathBuf)>> {
    Ok(numbered(data)?.into_iter().max())
}

/// Returns the number of the oldest journal that a restart would read.
pub(crate) fn oldest_number(data: &Path) -> Result<Option<u64>> {
    Ok(numbered(data)?.into_iter().min().map(|(number, _)| number))
}

/// Returns the names and paths of all journals.
pub(crate) fn named(data: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut journals = Vec::new();
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().filter(|name| number(name).is_some()) {
            journals.push((name.to_owned(), entry.path()));
        }
    }
    Ok(journals)
}

fn numbered(data: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let named = named(data).map_err(|error| translate_io(&format!("cannot list {}", data.display()), error))?;
    Ok(named.into_iter().filter_map(|(name, path)| Some((number(&name)?, path))).collect())
}

fn number(name: &str) -> Option<u64> {
    name.strip_suffix(".jnl")?.parse().ok()
}

/// A batch that was cut off.
pub(crate) struct CutBatch {
    at: u64,
    batch: Vec<u8>,
    file_bytes: u64,
}

/// Cuts the last batch off the newest journal, if it has one.
pub(crate) fn cut_last_batch(data: &Path) -> Result<Option<CutBatch>> {
    let Some((_, path)) = newest(data)? else { return Ok(None) };
    let cut = || {
        let mut file = open(&path)?;
        let intact = intact_batches(&mut file)?;
        let Some(at) = intact.last else { return Ok(None) };
        let file_bytes = file.metadata()?.len();
        let mut batch = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        (&file).take(intact.end - at).read_to_end(&mut batch)?;
        file.set_len(at)?;
        file.sync_all()?;
        Ok(Some(CutBatch { at, batch, file_bytes }))
    };
    cut().map_err(|error| translate_io(&format!("cannot cut {}", path.display()), error))
}

impl CutBatch {
    pub(crate) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Writes the batch back.
    pub(crate) fn restore(&self, data: &Path) -> Result<()> {
        let Some((_, path)) = newest(data)? else { return Ok(()) };
        let restore = || {
            let mut file = open(&path)?;
            file.set_len(self.at)?;
            file.seek(SeekFrom::Start(self.at))?;
            file.write_all(&self.batch)?;
            file.set_len(self.file_bytes)?;
            file.sync_all()
        };
        restore().map_err(|error| translate_io(&format!("cannot restore {}", path.display()), error))
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path)
}

/// The end of the batches with an intact structure, and the start of the last of them.
struct IntactBatches {
    last: Option<u64>,
    end: u64,
}

fn intact_batches(file: &mut File) -> io::Result<IntactBatches> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut intact = IntactBatches { last: None, end: 0 };
    while pass_batch(&mut reader)? {
        intact = IntactBatches { last: Some(intact.end), end: reader.stream_position()? };
    }
    Ok(intact)
}

/// Reads past one batch and returns whether its structure is intact.
fn pass_batch(reader: &mut BufReader<impl Read + Seek>) -> io::Result<bool> {
    match try_pass_batch(reader) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        passed => passed,
    }
}

fn try_pass_batch(reader: &mut BufReader<impl Read + Seek>) -> io::Result<bool> {
    if read::<1>(reader)? != [START] {
        return Ok(false);
    }
    let items = u32::from_le_bytes(read(reader)?);
    read::<8>(reader)?;
    for _ in 0..items {
        match read::<1>(reader)? {
            [ITEM] => {
                read::<10>(reader)?;
                let key_bytes = u16::from_le_bytes(read(reader)?);
                read::<4>(reader)?;
                let value_bytes = u32::from_le_bytes(read(reader)?);
                reader.seek_relative(i64::from(key_bytes) + i64::from(value_bytes))?;
            }
            [CLEAR] => drop(read::<8>(reader)?),
            _ => return Ok(false),
        }
    }
    let end: [u8; END_BYTES] = read(reader)?;
    Ok(is_end(&end))
}

fn is_end(bytes: &[u8]) -> bool {
    bytes[0] == END && bytes.ends_with(MAGIC)
}

fn read<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns the bytes after a position without the zeros at the end, to which fjall extends journals.
fn rest_after(file: &mut File, position: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(position))?;
    let mut rest = Vec::new();
    let zeros = vec![0; 1 << 16];
    let mut chunk = zeros.clone();
    let mut written = 0;
    loop {
        let length = file.read(&mut chunk)?;
        if length == 0 {
            rest.truncate(written);
            return Ok(rest);
        }
        // Most of a young journal is zeros: a comparison is faster than a search, and zeros need not be kept.
        let is_used = chunk[..length] != zeros[..length];
        if is_used && let Some(at) = chunk[..length].iter().rposition(|&byte| byte != 0) {
            written = rest.len() + at + 1;
        }
        if written > 0 {
            rest.extend_from_slice(&chunk[..length]);
        }
    }
}

/// Returns whether a batch ends in `rest` and an intact one follows. Nothing follows a torn batch, the last one written.
fn has_batch_after(rest: &[u8]) -> bool {
    rest.windows(END_BYTES).enumerate().filter(|(_, window)| is_end(window)).any(|(at, _)| {
        let mut after = BufReader::new(io::Cursor::new(&rest[at + END_BYTES..]));
        pass_batch(&mut after).unwrap_or(false)
    })
}
