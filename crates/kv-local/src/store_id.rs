//! The id of a store: random, chosen when the store is created, and never changed.
//!
//! `tablerock-format` names it, `store/` and `contents/` carry it in a file `tablerock-id`, and the checksums of contents
//! include it. So parts of two stores are never taken for one; see decision 23.

use std::path::Path;
use std::{fmt, fs, io};

use tablerock_kv::{Error, Result, Rng};
use xxhash_rust::xxh3::xxh3_64;

use crate::durable::replace_file;
use crate::failure::translate_io;

/// The file in `store/` and in `contents/`.
pub(crate) const FILE_NAME: &str = "tablerock-id";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreId(u128);

impl StoreId {
    pub(crate) fn random() -> Self {
        Self(u128::from_be_bytes(Rng::from_os().id()))
    }

    /// Parses the form of [`Display`](fmt::Display); `None` if it is another.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let id = Self(u128::from_str_radix(text, 16).ok()?);
        (id.to_string() == text).then_some(id)
    }

    /// Reads the id that a folder carries; `None` if there is none.
    pub(crate) fn of_folder(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE_NAME);
        match fs::read_to_string(&path) {
            Ok(text) => text.strip_suffix('\n').and_then(Self::parse).map(Some).ok_or_else(|| {
                Error::corrupt(format!("{} is damaged; restore the directory from a backup", path.display()))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(translate_io(&format!("cannot read {}", path.display()), error)),
        }
    }

    /// Marks a folder as a part of this store, durably.
    pub(crate) fn mark(self, folder: &Path) -> io::Result<()> {
        replace_file(&folder.join(FILE_NAME), &format!("{self}\n"))
    }

    /// Returns the part of the seeds of checksums that depends on the store.
    pub(crate) fn seed(self) -> u64 {
        xxh3_64(&self.0.to_be_bytes())
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written_and_in_no_other_form() {
        let id = StoreId::random();
        assert_eq!(StoreId::parse(&id.to_string()), Some(id));
        assert_ne!(id, StoreId::random());
        let text = StoreId(0xab).to_string();
        assert_eq!(text, "000000000000000000000000000000ab");
        for other in ["ab", "", &text.to_uppercase(), &format!("+{}", &text[1..]), &format!("{text}0")] {
            assert_eq!(StoreId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_damaged_id_is_an_error_and_not_a_missing_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(StoreId::of_folder(folder.path()).unwrap(), None);
        let id = StoreId::random();
        id.mark(folder.path()).unwrap();
        assert_eq!(StoreId::of_folder(folder.path()).unwrap(), Some(id));
        fs::write(folder.path().join(FILE_NAME), "").unwrap();
        assert!(StoreId::of_folder(folder.path()).is_err());
    }
}
