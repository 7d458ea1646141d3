//! The parts of a data directory, looked at before anything in it is touched, and what a start makes of them.
//!
//! A start creates data only where there is none. If a part is missing, was emptied, or belongs to another store, the rest
//! is left alone: whatever is written next to it could destroy what a mount or a backup brings back.

use std::path::Path;
use std::{fs, io};

use tablerock_kv::{Error, Result};

use crate::directory::{CONTENTS_NAME, DATA_NAME, UNFINISHED_NAME};
use crate::failure::translate_io;
use crate::format::{self, Format, Identity};
use crate::location_error::Lack;
use crate::store_id::{self, StoreId};
use crate::{LocationError, clean_stop};

/// The folder that some file systems create in the root of every volume.
const LOST_AND_FOUND: &str = "lost+found";

/// The state of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none, and no trace of any.
    Absent,
    /// Its creation was interrupted, so it holds no acknowledged writes.
    Unfinished,
    /// It is complete, in format 1. An interrupted upgrade may have given it an id.
    WithoutId(Option<StoreId>),
    Complete(Identity),
}

/// Determines the state of the data. Fails if its parts are not those of one store.
pub(crate) fn examine(location: &Path) -> Result<State> {
    let format = format::read(location)?;
    let store = Part::read(location, DATA_NAME)?;
    let contents = Part::read(location, CONTENTS_NAME)?;
    if location.join(UNFINISHED_NAME).exists() {
        // Nothing is served before the creation is finished, so there are no contents yet.
        return match contents.has_entries {
            true => Err(lacks(location, DATA_NAME, Lack::Unfinished, CONTENTS_NAME)),
            false => Ok(State::Unfinished),
        };
    }
    let Some(format) = format else {
        if store.exists {
            return Err(LocationError::Incomplete { location: location.to_owned() }.into_error());
        }
        if contents.has_entries || contents.id.is_some() {
            return Err(lacks(location, DATA_NAME, Lack::Missing, CONTENTS_NAME));
        }
        if clean_stop::is_written(location) {
            return Err(lacks(location, DATA_NAME, Lack::Missing, clean_stop::FILE_NAME));
        }
        return Ok(State::Absent);
    };
    let lack = |part, lack| Err(lacks(location, part, lack, format::FILE_NAME));
    if !store.exists {
        return lack(DATA_NAME, Lack::Missing);
    }
    if !store.has_entries {
        return lack(DATA_NAME, Lack::Empty);
    }
    let mixed = |part, id: StoreId, expected: String| {
        let location = location.to_owned();
        Err(LocationError::Mixed { location, part, id: id.to_string(), expected }.into_error())
    };
    match format {
        Format::One => match (contents.id, store.id) {
            (Some(id), Some(expected)) if id != expected => mixed(CONTENTS_NAME, id, expected.to_string()),
            (Some(id), None) => mixed(CONTENTS_NAME, id, "none".to_owned()),
            (_, id) => Ok(State::WithoutId(id)),
        },
        Format::Two(identity) => {
            for (name, part) in [(DATA_NAME, store), (CONTENTS_NAME, contents)] {
                match part.id {
                    Some(id) if id == identity.id => {}
                    Some(id) => return mixed(name, id, identity.id.to_string()),
                    None if !part.exists => return lack(name, Lack::Missing),
                    None if !part.has_entries => return lack(name, Lack::Empty),
                    None => return lack(name, Lack::WithoutId),
                }
            }
            Ok(State::Complete(identity))
        }
    }
}

fn lacks(location: &Path, part: &'static str, lack: Lack, present: &'static str) -> Error {
    LocationError::PartMissing { location: location.to_owned(), part, lack, present }.into_error()
}

/// `store/` or `contents/`.
struct Part {
    exists: bool,
    /// Whether there is anything but the id.
    has_entries: bool,
    id: Option<StoreId>,
}

impl Part {
    fn read(location: &Path, name: &str) -> Result<Self> {
        let path = location.join(name);
        let has_entries = || -> io::Result<bool> {
            for entry in fs::read_dir(&path)? {
                let name = entry?.file_name();
                // The id, or what an interrupted attempt to write it left.
                let is_id = name.to_str().is_some_and(|name| name.starts_with(store_id::FILE_NAME));
                if !is_id && name != LOST_AND_FOUND {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        match has_entries() {
            Ok(has_entries) => Ok(Self { exists: true, has_entries, id: StoreId::of_folder(&path)? }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { exists: false, has_entries: false, id: None })
            }
            Err(error) => Err(translate_io(&format!("cannot list {}", path.display()), error)),
        }
    }
}
