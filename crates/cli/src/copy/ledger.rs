//! How far a copy over the wire has come, in a file, so that the same command goes on from there.
//!
//! The file has lines of JSON, of which the first says between which ends the copy is, and each further one what has arrived since.
//! A line is written after the other end has acknowledged what it tells, so what is missing is at most done twice, which
//! is harmless. A last line that was cut off is passed over. There are no secrets in it.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tablerock_client::ContinuationToken;

use super::tally::Tally;

const VERSION: u32 = 1;
/// After so many lines the file is written anew with what still counts.
const LINES_MAX: usize = 20_000;

/// Something that is copied as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Holding {
    Table(String),
    Container(String),
    Queue(String),
}

/// How far a holding is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Status {
    pub(super) is_done: bool,
    /// Where the first page begins that has not arrived whole.
    pub(super) next: Option<ContinuationToken>,
    /// Of all pages before that one.
    pub(super) tally: Tally,
    /// Blobs of that page that have arrived: their names and the marks of what was copied.
    pub(super) blobs: HashMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Copy { version: u32, from: String, to: String },
    Page { of: Holding, next: Option<ContinuationToken>, tally: Tally },
    Blob { of: Holding, name: String, mark: String },
    Done { of: Holding, tally: Tally },
}

/// The file and what is in it.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    ends: [String; 2],
    file: File,
    lines: usize,
    holdings: BTreeMap<Holding, Status>,
}

impl Ledger {
    /// Opens the ledger of a copy, which may be new.
    pub(super) fn open(path: &Path, from: &str, to: &str) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {error}; check --resume-file", path.display())),
        };
        let ends = [from.to_owned(), to.to_owned()];
        let holdings = read(&text, &ends).map_err(|why| {
            format!("{} {why}: begin anew with --start-over, or choose another with --resume-file", path.display())
        })?;
        let (file, lines) = write(path, &ends, &holdings).map_err(|error| unwritten(path, &error))?;
        Ok(Self { path: path.to_owned(), ends, file, lines, holdings })
    }

    /// Makes the copy begin anew.
    pub(super) fn forget(path: &Path) -> Result<(), String> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}; check --resume-file", path.display()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn status(&self, holding: &Holding) -> Status {
        self.holdings.get(holding).cloned().unwrap_or_default()
    }

    pub(super) fn holdings(&self) -> impl Iterator<Item = (&Holding, &Status)> {
        self.holdings.iter()
    }

    /// All pages before this one have arrived.
    pub(super) fn page(&mut self, of: &Holding, next: ContinuationToken, tally: Tally) -> Result<(), String> {
        self.enter(Line::Page { of: of.clone(), next: Some(next), tally })
    }

    /// A blob of the page under way has arrived.
    pub(super) fn blob(&mut self, of: &Holding, name: String, mark: String) -> Result<(), String> {
        self.enter(Line::Blob { of: of.clone(), name, mark })
    }

    /// All of it has arrived.
    pub(super) fn done(&mut self, of: &Holding, tally: Tally) -> Result<(), String> {
        self.enter(Line::Done { of: of.clone(), tally })
    }

    /// Everything has arrived: the next copy begins anew.
    pub(super) fn remove(self) -> Result<(), String> {
        fs::remove_file(&self.path).map_err(|error| format!("cannot remove {}: {error}", self.path.display()))
    }

    fn enter(&mut self, line: Line) -> Result<(), String> {
        let entered = append(&mut self.file, &line);
        apply(&mut self.holdings, line);
        self.lines += 1;
        let written = entered.and_then(|()| {
            if self.lines > LINES_MAX.max(2 * self.holdings.len()) {
                (self.file, self.lines) = write(&self.path, &self.ends, &self.holdings)?;
            }
            Ok(())
        });
        written.map_err(|error| unwritten(&self.path, &error))
    }
}

fn read(text: &str, ends: &[String; 2]) -> Result<BTreeMap<Holding, Status>, String> {
    let mut holdings = BTreeMap::new();
    // What follows the last line feed was cut off.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (place, line) in whole.lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|_| "is not the record of a copy".to_owned())?;
        match (place, line) {
            (0, Line::Copy { version, .. }) if version != VERSION => {
                return Err("was written by another version".to_owned());
            }
            (0, Line::Copy { from, to, .. }) if [&from, &to] == [&ends[0], &ends[1]] => {}
            (0, Line::Copy { from, to, .. }) => return Err(format!("is of the copy from {from} to {to}")),
            (0, _) | (_, Line::Copy { .. }) => return Err("is not the record of a copy".to_owned()),
            (_, line) => apply(&mut holdings, line),
        }
    }
    Ok(holdings)
}

fn apply(holdings: &mut BTreeMap<Holding, Status>, line: Line) {
    match line {
        Line::Copy { .. } => {}
        Line::Page { of, next, tally } => {
            holdings.insert(of, Status { next, tally, ..Status::default() });
        }
        Line::Blob { of, name, mark } => {
            holdings.entry(of).or_default().blobs.insert(name, mark);
        }
        Line::Done { of, tally } => {
            holdings.insert(of, Status { is_done: true, tally, ..Status::default() });
        }
    }
}

/// Writes the file anew, beside the old one and then in its place.
fn write(path: &Path, ends: &[String; 2], holdings: &BTreeMap<Holding, Status>) -> io::Result<(File, usize)> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = io::BufWriter::new(File::create(&new)?);
    let [from, to] = ends.clone();
    append(&mut file, &Line::Copy { version: VERSION, from, to })?;
    let mut lines = 1;
    for (of, Status { is_done, next, tally, blobs }) in holdings {
        let (of, next, tally) = (of.clone(), next.clone(), *tally);
        lines += 1 + blobs.len();
        if *is_done {
            append(&mut file, &Line::Done { of, tally })?;
            continue;
        }
        append(&mut file, &Line::Page { of: of.clone(), next, tally })?;
        for (name, mark) in blobs {
            append(&mut file, &Line::Blob { of: of.clone(), name: name.clone(), mark: mark.clone() })?;
        }
    }
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    fs::rename(&new, path)?;
    Ok((file, lines))
}

fn append(file: &mut impl io::Write, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}; choose another file with --resume-file", path.display())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_was_entered_is_found_again_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        let (table, container) = (Holding::Table("People".to_owned()), Holding::Container("box".to_owned()));
        let next: ContinuationToken = "YQ".parse().unwrap();
        let tally = Tally { entities: 7, ..Tally::default() };
        let mut ledger = Ledger::open(&path, "a", "b").unwrap();
        ledger.page(&table, next.clone(), tally).unwrap();
        ledger.blob(&container, "old".to_owned(), "1".to_owned()).unwrap();
        ledger.page(&container, next.clone(), tally).unwrap();
        ledger.blob(&container, "new".to_owned(), "2".to_owned()).unwrap();
        ledger.done(&Holding::Queue("jobs".to_owned()), tally).unwrap();
        ledger.file.write_all(b"{\"done\":{\"of\"").unwrap();

        for _ in 0..2 {
            let ledger = Ledger::open(&path, "a", "b").unwrap();
            let blobs = HashMap::from([("new".to_owned(), "2".to_owned())]);
            assert_eq!(ledger.status(&container), Status { is_done: false, next: Some(next.clone()), tally, blobs });
            assert_eq!(ledger.status(&table).next, Some(next.clone()));
            assert!(ledger.status(&Holding::Queue("jobs".to_owned())).is_done);
            assert_eq!(ledger.status(&Holding::Table("Other".to_owned())), Status::default());
        }
        assert!(Ledger::open(&path, "a", "c").unwrap_err().contains("from a to b"));
        fs::write(&path, "something\n").unwrap();
        assert!(Ledger::open(&path, "a", "b").unwrap_err().contains("--resume-file"));
    }

    #[test]
    fn the_file_does_not_grow_without_bound() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("copy"), "a", "b").unwrap();
        let table = Holding::Table("People".to_owned());
        for _ in 0..=LINES_MAX {
            ledger.page(&table, "YQ".parse().unwrap(), Tally::default()).unwrap();
        }
        assert!(ledger.lines < LINES_MAX / 2, "{}", ledger.lines);
    }
}
