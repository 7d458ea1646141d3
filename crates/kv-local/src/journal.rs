//! The end of the journal after a power cut.
//!
//! Each batch is synced before the next one is written. So a crash can leave at most one torn batch, the last,
//! which nobody was told about. fjall drops it where it can tell by the structure, but refuses to open when only
//! the checksum is wrong, and forgets everything behind the first broken place when that is in the middle. We
//! look first: a torn end is cut off, damage in the middle is reported. A journal that is not the newest was synced
//! before the next one came to be, so there even a torn end is damage.
//!
//! A batch is: `01`, the number of its items (4 bytes), its sequence number (8); the items; `03`, a checksum (8)
//! and `46 4a 4c 03`. An item is: `02`, kind (1), compression (1), keyspace (8), length of key (2), of value (4)
//! and of value as stored (4), then key and value. All numbers have the least significant byte first.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tablerock_kv::{Error, Result};

use crate::failure::translate_io;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: &[u8] = b"FJL\x03";
const END_BYTES: usize = 1 + 8 + MAGIC.len();

/// Cuts a torn batch off the end of the newest journal, and fails if there is damage anywhere else.
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
    let whole = whole_batches(&mut file).map_err(failed)?;
    let rest = rest_after(&mut file, whole.end).map_err(failed)?;
    if rest.is_empty() {
        return Ok(());
    }
    if !may_be_torn || has_batch_behind(&rest) {
        return Err(Error::corrupt(format!(
            "{} is damaged at byte {}, before batches that are whole; restore the directory from a backup",
            path.display(),
            whole.end
        )));
    }
    tracing::warn!(bytes = rest.len(), "cut off a batch that was torn by a crash, never acknowledged");
    file.set_len(whole.end).and_then(|()| file.sync_all()).map_err(failed)
}

/// The number and path of the journal that is written to.
pub(crate) fn newest(data: &Path) -> Result<Option<(u64, PathBuf)>> {
    Ok(numbered(data)?.into_iter().max())
}

/// The number of the oldest journal that a restart would read.
pub(crate) fn oldest_number(data: &Path) -> Result<Option<u64>> {
    Ok(numbered(data)?.into_iter().min().map(|(number, _)| number))
}

fn numbered(data: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let number = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".jnl")?.parse().ok();
    let list = || fs::read_dir(data)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let paths = list().map_err(|error| translate_io(&format!("cannot list {}", data.display()), error))?;
    Ok(paths.into_iter().filter_map(|path| Some((number(&path)?, path))).collect())
}

/// A batch set aside.
pub(crate) struct Cut {
    at: u64,
    batch: Vec<u8>,
    file_bytes: u64,
}

/// Takes the last batch out of the newest journal, if it has one.
pub(crate) fn cut_last_batch(data: &Path) -> Result<Option<Cut>> {
    let Some((_, path)) = newest(data)? else { return Ok(None) };
    let cut = || {
        let mut file = open(&path)?;
        let whole = whole_batches(&mut file)?;
        let Some(at) = whole.last else { return Ok(None) };
        let file_bytes = file.metadata()?.len();
        let mut batch = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        (&file).take(whole.end - at).read_to_end(&mut batch)?;
        file.set_len(at)?;
        file.sync_all()?;
        Ok(Some(Cut { at, batch, file_bytes }))
    };
    cut().map_err(|error| translate_io(&format!("cannot cut {}", path.display()), error))
}

impl Cut {
    pub(crate) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Puts the batch back where it was.
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

/// Where the batches end that are whole by structure, and where the last of them begins.
struct Whole {
    last: Option<u64>,
    end: u64,
}

fn whole_batches(file: &mut File) -> io::Result<Whole> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut whole = Whole { last: None, end: 0 };
    while pass_batch(&mut reader)? {
        whole = Whole { last: Some(whole.end), end: reader.stream_position()? };
    }
    Ok(whole)
}

/// Reads past one batch and says whether it was whole by structure.
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

/// What follows a position, without the zeros at the end: journals are longer than what is written to them.
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
        // Most of a young journal is zeros, which comparing finds out faster than searching, and which need not be kept.
        let is_used = chunk[..length] != zeros[..length];
        if is_used && let Some(at) = chunk[..length].iter().rposition(|&byte| byte != 0) {
            written = rest.len() + at + 1;
        }
        if written > 0 {
            rest.extend_from_slice(&chunk[..length]);
        }
    }
}

/// Whether some batch ends in `rest` and another whole one follows. A torn batch is the last thing written, so
/// nothing follows it.
fn has_batch_behind(rest: &[u8]) -> bool {
    rest.windows(END_BYTES).enumerate().filter(|(_, window)| is_end(window)).any(|(at, _)| {
        let mut behind = BufReader::new(io::Cursor::new(&rest[at + END_BYTES..]));
        pass_batch(&mut behind).unwrap_or(false)
    })
}
