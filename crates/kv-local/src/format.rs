//! The file that names the format of a data directory: a few readable lines, replaced atomically.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tablerock_kv::{Error, Result};

use crate::LocationError;
use crate::failure::translate_io;

/// The format this version writes, and the newest it reads.
const FORMAT: u32 = 1;

/// The first version that reads the format, for the error of an older version.
const FIRST_READER: &str = "0.1.0";

const FILE_NAME: &str = "tablerock-format";
const HEADING: &str = "Tablerock data directory";

/// Returns whether a directory names its format.
pub(crate) fn is_written(location: &Path) -> bool {
    location.join(FILE_NAME).exists()
}

/// Checks that this version can read the directory. Returns `false` if the directory names no format yet.
pub(crate) fn check(location: &Path) -> Result<bool> {
    let path = location.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(translate_io(&format!("cannot read {}", path.display()), error)),
    };
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let format = field("format").and_then(|format| format.parse::<u32>().ok());
    match format {
        Some(1..=FORMAT) if text.starts_with(HEADING) => Ok(true),
        Some(newer) if newer > FORMAT => {
            let reader = field("readable by").unwrap_or("a newer version").to_owned();
            let location = location.to_owned();
            Err(LocationError::NewerFormat { location, format: newer, format_max: FORMAT, reader }.into_error())
        }
        _ => Err(Error::corrupt(format!(
            "{} names an unknown format; restore the directory from a backup",
            path.display()
        ))),
    }
}

/// Writes the format of this version to the directory.
pub(crate) fn write(location: &Path) -> io::Result<()> {
    let text = format!(
        "{HEADING}\nformat: {FORMAT}\nreadable by: {FIRST_READER} or later\nwritten by: {}\n",
        env!("CARGO_PKG_VERSION")
    );
    let temporary = location.join(format!("{FILE_NAME}.new"));
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, location.join(FILE_NAME))?;
    sync_directory(location)
}

/// Makes the names in a directory durable. Windows has no such call and needs none.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(windows) { Ok(()) } else { File::open(path)?.sync_all() }
}
