//! Errors about the data directory itself, as a type: a program can add the remedy that it offers.

use std::path::PathBuf;
use std::{fmt, io};

use tablerock_kv::{Error, ErrorKind};

use crate::failure::kind_of_io;

/// A problem with the data directory that the operator can solve. It is the source of the [`Error`] that
/// [`LocalEngine::open`](crate::LocalEngine::open) returns; see [`Error::source_as`].
#[derive(Debug)]
#[non_exhaustive]
pub enum LocationError {
    /// The directory cannot be created or written.
    NotWritable { location: PathBuf, error: io::Error },
    /// Another process has the directory open.
    InUse { location: PathBuf, pid: Option<u32> },
    /// The directory has data but no file that names its format.
    Incomplete { location: PathBuf },
    /// There is no data, and the options do not allow to create it.
    Absent { location: PathBuf },
    /// A part of the data is not there, but another is: a mount that did not come up, or half a restore.
    PartMissing { location: PathBuf, part: &'static str, lack: Lack, present: &'static str },
    /// A part belongs to another store than the rest.
    Mixed { location: PathBuf, part: &'static str, id: String, expected: String },
    /// The journals are not those that a clean stop left.
    Changed { location: PathBuf, difference: String },
    /// A newer version wrote the directory; `reader` names the versions that can read it.
    NewerFormat { location: PathBuf, format: u32, format_max: u32, reader: String },
}

/// The fault of a part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lack {
    Missing,
    Empty,
    /// It has no file with the id of its store.
    WithoutId,
    /// Its creation was not finished.
    Unfinished,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::Empty => "is empty",
            Self::WithoutId => "has no file tablerock-id",
            Self::Unfinished => "was never finished",
        })
    }
}

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWritable { location, error } => write!(f, "cannot write to {}: {error}", location.display()),
            Self::InUse { location, pid } => {
                write!(f, "{} is in use by another Tablerock", location.display())?;
                pid.map_or(Ok(()), |pid| write!(f, " (pid {pid})"))
            }
            Self::Incomplete { location } => {
                write!(f, "{} is not complete: it has data but no file tablerock-format", location.display())
            }
            Self::Absent { location } => write!(f, "{} has no data", location.display()),
            Self::PartMissing { location, part, lack, present } => {
                write!(f, "{} is not complete: {part} {lack}, but there is {present}", location.display())
            }
            Self::Mixed { location, part, id, expected } => write!(
                f,
                "{} has parts of two stores: {part} belongs to store {id}, and the rest to store {expected}",
                location.display()
            ),
            Self::Changed { location, difference } => {
                write!(f, "{} has changed since its clean stop: {difference}", location.display())
            }
            Self::NewerFormat { location, format, format_max, .. } => write!(
                f,
                "{} holds data of format {format}, and this Tablerock ({}) reads formats up to {format_max}",
                location.display(),
                env!("CARGO_PKG_VERSION"),
            ),
        }
    }
}

impl std::error::Error for LocationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::NotWritable { error, .. } = self { Some(error) } else { None }
    }
}

impl LocationError {
    /// Returns the error of the engine with this one as its source.
    pub fn into_error(self) -> Error {
        let kind = match &self {
            Self::NotWritable { error, .. } => kind_of_io(error),
            Self::InUse { .. } => ErrorKind::Unavailable,
            Self::Incomplete { .. } | Self::Absent { .. } | Self::NewerFormat { .. } => ErrorKind::Invalid,
            Self::PartMissing { .. } | Self::Mixed { .. } | Self::Changed { .. } => ErrorKind::Corrupt,
        };
        Error::new(kind, self.to_string()).with_source(self)
    }
}
