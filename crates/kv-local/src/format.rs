//! The file that names the format and the id of a data directory: a few readable lines, replaced atomically.
//!
//! Format 1 has no id. A start adds one and writes format 2; contents written before keep the checksums of format 1, which
//! do not depend on the id.

use std::path::Path;
use std::{fs, io};

use tablerock_kv::{Error, Result};

use crate::LocationError;
use crate::durable::replace_file;
use crate::failure::translate_io;
use crate::store_id::StoreId;

/// The format this version writes, and the newest it reads.
const FORMAT: u32 = 2;

/// The first version that reads the format, for the error of an older version.
const FIRST_READER: &str = "0.1.0 (with format 2) or later";

pub(crate) const FILE_NAME: &str = "tablerock-format";
const HEADING: &str = "Tablerock data directory";

/// The format of a data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Without an id.
    One,
    Two(Identity),
}

/// The id of a store, and the checksums that its contents may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: StoreId,
    /// Whether the directory had format 1 once, so that contents may have checksums without the id.
    pub(crate) has_older_contents: bool,
}

/// Returns whether a directory names its format.
pub(crate) fn is_written(location: &Path) -> bool {
    location.join(FILE_NAME).exists()
}

/// Reads the format of a directory; `None` if it names none yet. Fails if this version cannot read it.
pub(crate) fn read(location: &Path) -> Result<Option<Format>> {
    let path = location.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(translate_io(&format!("cannot read {}", path.display()), error)),
    };
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let number = field("format").and_then(|format| format.parse::<u32>().ok());
    let is_ours = text.starts_with(HEADING);
    let format = match number {
        Some(newer) if newer > FORMAT => {
            let reader = field("readable by").unwrap_or("a newer version").to_owned();
            let location = location.to_owned();
            return Err(LocationError::NewerFormat { location, format: newer, format_max: FORMAT, reader }.into_error());
        }
        Some(1) if is_ours => Some(Format::One),
        Some(2) if is_ours => identity(field).map(Format::Two),
        _ => None,
    };
    let unknown = || format!("{} names an unknown format; restore the directory from a backup", path.display());
    format.map(Some).ok_or_else(|| Error::corrupt(unknown()))
}

fn identity<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<Identity> {
    let id = StoreId::parse(field("id")?)?;
    let has_older_contents = match field("older contents")? {
        "yes" => true,
        "no" => false,
        _ => return None,
    };
    Some(Identity { id, has_older_contents })
}

/// Writes the format of this version to the directory.
pub(crate) fn write(location: &Path, identity: Identity) -> io::Result<()> {
    let Identity { id, has_older_contents } = identity;
    let text = format!(
        "{HEADING}\nformat: {FORMAT}\nreadable by: {FIRST_READER}\nwritten by: {}\nid: {id}\nolder contents: {}\n",
        env!("CARGO_PKG_VERSION"),
        if has_older_contents { "yes" } else { "no" },
    );
    replace_file(&location.join(FILE_NAME), &text)
}
