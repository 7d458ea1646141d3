//! The progress of a copy over HTTP, in a file, so that the same command resumes it.
//!
//! The file has lines of JSON. The first names both ends of the copy; each other one records progress. A line is written
//! after the target has acknowledged what it records, so a lost line only repeats work, which is harmless. A torn last line
//! is ignored. The file contains no secrets.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tablerock_client::ContinuationToken;

use super::counts::Counts;

const VERSION: u32 = 1;
/// After this many lines the file is compacted.
const LINES_MAX: usize = 20_000;

/// A table, a container or a queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CopyItem {
    Table(String),
    Container(String),
    Queue(String),
}

/// The progress of an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Status {
    pub(super) is_done: bool,
    /// The first page that is not completely copied.
    pub(super) next: Option<ContinuationToken>,
    /// The counts of all earlier pages.
    pub(super) counts: Counts,
    /// The copied blobs of that page, by name.
    pub(super) blobs: HashMap<String, CopiedBlob>,
    /// The counts with those of the page that failed, for the report. The file does not have them: the next run counts that
    /// page again.
    pub(super) unfinished: Option<Counts>,
}

/// A blob that is copied: its version, and its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CopiedBlob {
    pub(super) version: String,
    pub(super) bytes: u64,
}

impl Status {
    /// Returns the counts of everything that is copied.
    pub(super) fn all_counts(&self) -> &Counts {
        self.unfinished.as_ref().unwrap_or(&self.counts)
    }
}

/// A line of the file. Its names are those of the stored format.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Copy {
        version: u32,
        from: String,
        to: String,
    },
    Page {
        of: CopyItem,
        next: Option<ContinuationToken>,
        tally: Counts,
    },
    Blob {
        of: CopyItem,
        name: String,
        mark: String,
        #[serde(default)]
        bytes: u64,
    },
    Done {
        of: CopyItem,
        tally: Counts,
    },
}

/// The file and its content.
#[derive(Debug)]
pub(super) struct ResumeFile {
    path: PathBuf,
    ends: [String; 2],
    file: File,
    lines: usize,
    items: BTreeMap<CopyItem, Status>,
}

impl ResumeFile {
    /// Opens the file of a copy, which may be new.
    pub(super) fn open(path: &Path, from: &str, to: &str) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {error}; check --resume-file", path.display())),
        };
        let ends = [from.to_owned(), to.to_owned()];
        let items = read(&text, &ends).map_err(|message| {
            format!("{} {message}: discard it with --start-over, or choose another with --resume-file", path.display())
        })?;
        let (file, lines) = write(path, &ends, &items).map_err(|error| write_error(path, &error))?;
        Ok(Self { path: path.to_owned(), ends, file, lines, items })
    }

    /// Deletes the file, so that the copy starts again.
    pub(super) fn forget(path: &Path) -> Result<(), String> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}; check --resume-file", path.display()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn status(&self, item: &CopyItem) -> Status {
        self.items.get(item).cloned().unwrap_or_default()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = (&CopyItem, &Status)> {
        self.items.iter()
    }

    /// Records that all pages before this one are copied.
    pub(super) fn page(&mut self, of: &CopyItem, next: ContinuationToken, counts: Counts) -> Result<(), String> {
        self.record(Line::Page { of: of.clone(), next: Some(next), tally: counts })
    }

    /// Records that a blob of the current page is copied.
    pub(super) fn blob(&mut self, of: &CopyItem, name: String, copied: CopiedBlob) -> Result<(), String> {
        self.record(Line::Blob { of: of.clone(), name, mark: copied.version, bytes: copied.bytes })
    }

    /// Keeps the counts of an item that failed, for the report.
    pub(super) fn failed(&mut self, of: &CopyItem, counts: Counts) {
        self.items.entry(of.clone()).or_default().unfinished = Some(counts);
    }

    /// Records that an item is completely copied.
    pub(super) fn done(&mut self, of: &CopyItem, counts: Counts) -> Result<(), String> {
        self.record(Line::Done { of: of.clone(), tally: counts })
    }

    /// Deletes the file of a complete copy.
    pub(super) fn remove(self) -> Result<(), String> {
        fs::remove_file(&self.path).map_err(|error| format!("cannot remove {}: {error}", self.path.display()))
    }

    fn record(&mut self, line: Line) -> Result<(), String> {
        let appended = append(&mut self.file, &line);
        apply(&mut self.items, line);
        self.lines += 1;
        let written = appended.and_then(|()| {
            if self.lines > LINES_MAX.max(2 * self.items.len()) {
                (self.file, self.lines) = write(&self.path, &self.ends, &self.items)?;
            }
            Ok(())
        });
        written.map_err(|error| write_error(&self.path, &error))
    }
}

fn read(text: &str, ends: &[String; 2]) -> Result<BTreeMap<CopyItem, Status>, String> {
    let mut items = BTreeMap::new();
    // Text after the last line feed is a torn line.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, line) in whole.lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|_| "is not the progress file of a copy".to_owned())?;
        match (number, line) {
            (0, Line::Copy { version, .. }) if version != VERSION => {
                return Err("has the format of another version".to_owned());
            }
            (0, Line::Copy { from, to, .. }) if [&from, &to] == [&ends[0], &ends[1]] => {}
            (0, Line::Copy { from, to, .. }) => return Err(format!("belongs to the copy from {from} to {to}")),
            (0, _) | (_, Line::Copy { .. }) => return Err("is not the progress file of a copy".to_owned()),
            (_, line) => apply(&mut items, line),
        }
    }
    Ok(items)
}

fn apply(items: &mut BTreeMap<CopyItem, Status>, line: Line) {
    match line {
        Line::Copy { .. } => {}
        Line::Page { of, next, tally: counts } => {
            items.insert(of, Status { next, counts, ..Status::default() });
        }
        Line::Blob { of, name, mark: version, bytes } => {
            items.entry(of).or_default().blobs.insert(name, CopiedBlob { version, bytes });
        }
        Line::Done { of, tally: counts } => {
            items.insert(of, Status { is_done: true, counts, ..Status::default() });
        }
    }
}

/// Writes a compacted file and replaces the old one with it.
fn write(path: &Path, ends: &[String; 2], items: &BTreeMap<CopyItem, Status>) -> io::Result<(File, usize)> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = io::BufWriter::new(File::create(&new)?);
    let [from, to] = ends.clone();
    append(&mut file, &Line::Copy { version: VERSION, from, to })?;
    let mut lines = 1;
    for (of, Status { is_done, next, counts, blobs, .. }) in items {
        let (of, next, counts) = (of.clone(), next.clone(), *counts);
        lines += 1 + blobs.len();
        if *is_done {
            append(&mut file, &Line::Done { of, tally: counts })?;
            continue;
        }
        append(&mut file, &Line::Page { of: of.clone(), next, tally: counts })?;
        for (name, CopiedBlob { version, bytes }) in blobs {
            let (of, name, mark) = (of.clone(), name.clone(), version.clone());
            append(&mut file, &Line::Blob { of, name, mark, bytes: *bytes })?;
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

fn write_error(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}; choose another file with --resume-file", path.display())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn recorded_progress_is_read_back_and_a_torn_line_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        let (table, container) = (CopyItem::Table("People".to_owned()), CopyItem::Container("box".to_owned()));
        let next: ContinuationToken = "YQ".parse().unwrap();
        let counts = Counts { entities: 7, ..Counts::default() };
        let mut resume_file = ResumeFile::open(&path, "a", "b").unwrap();
        resume_file.page(&table, next.clone(), counts).unwrap();
        let copied = |version: &str| CopiedBlob { version: version.to_owned(), bytes: 3 };
        resume_file.blob(&container, "old".to_owned(), copied("1")).unwrap();
        resume_file.page(&container, next.clone(), counts).unwrap();
        resume_file.blob(&container, "new".to_owned(), copied("2")).unwrap();
        resume_file.failed(&container, Counts { blobs: 1, ..counts });
        assert_eq!(resume_file.status(&container).all_counts().blobs, 1);
        resume_file.done(&CopyItem::Queue("jobs".to_owned()), counts).unwrap();
        resume_file.file.write_all(b"{\"done\":{\"of\"").unwrap();

        for _ in 0..2 {
            let resume_file = ResumeFile::open(&path, "a", "b").unwrap();
            let blobs = HashMap::from([("new".to_owned(), copied("2"))]);
            assert_eq!(
                resume_file.status(&container),
                Status { next: Some(next.clone()), counts, blobs, ..Status::default() }
            );
            assert_eq!(resume_file.status(&table).next, Some(next.clone()));
            assert!(resume_file.status(&CopyItem::Queue("jobs".to_owned())).is_done);
            assert_eq!(resume_file.status(&CopyItem::Table("Other".to_owned())), Status::default());
        }
        assert!(ResumeFile::open(&path, "a", "c").unwrap_err().contains("from a to b"));
        fs::write(&path, "something\n").unwrap();
        assert!(ResumeFile::open(&path, "a", "b").unwrap_err().contains("--resume-file"));
    }

    #[test]
    fn the_file_does_not_grow_without_bound() {
        let folder = tempfile::tempdir().unwrap();
        let mut resume_file = ResumeFile::open(&folder.path().join("copy"), "a", "b").unwrap();
        let table = CopyItem::Table("People".to_owned());
        for _ in 0..=LINES_MAX {
            resume_file.page(&table, "YQ".parse().unwrap(), Counts::default()).unwrap();
        }
        assert!(resume_file.lines < LINES_MAX / 2, "{}", resume_file.lines);
    }
}
