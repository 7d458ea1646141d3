//! The words of the field: documents, doc comments and string literals use the terms of `docs/glossary.md`.
//!
//! Each crate and each document has a number of banned words on record in `words.txt`. More than recorded is a finding, and so
//! is less: `cargo xtask tidy --bless` then lowers the number, and it never goes up again by accident.

use std::collections::BTreeMap;
use std::fs;

use super::Finding;
use super::prose;
use super::tree::{File, Tree};
use crate::Result;
use crate::workspace::Workspace;

const RECORD: &str = "xtask/src/tidy/words.txt";
/// The list itself is not prose.
const THIS_FILE: &str = "xtask/src/tidy/words.rs";

/// A word or phrase in lower case, and the replacement.
const BANNED: [(&str, &str); 32] = [
    ("answer", "response, return or respond"),
    ("answers", "responses, returns or responds"),
    ("answered", "returned or responded"),
    ("answering", "returning or responding"),
    ("nobody", "the component's name, or the passive voice"),
    ("somebody", "the component's name"),
    ("anybody", "the component's name"),
    ("everybody", "the components' names"),
    ("whoever", "the component's name"),
    ("whomever", "the component's name"),
    ("told", "logged, printed, returned or counted"),
    ("tells", "logs, prints, returns or shows"),
    ("anew", "again"),
    ("beside", "next to, or with"),
    ("in place of", "instead of"),
    ("in the place of", "instead of"),
    ("under way", "in progress"),
    ("refusal", "error or rejection"),
    ("refuses", "rejects"),
    ("tried again", "retried"),
    ("try again", "retry"),
    ("trying again", "retrying"),
    ("gives back", "reclaims or returns"),
    ("given back", "reclaimed or returned"),
    ("give back", "reclaim or return"),
    ("as good as", "the same as"),
    ("road", "pipeline"),
    ("dice", "random numbers, or Rng"),
    ("is no", "is not a"),
    ("are no", "are not"),
    ("/// what", "a noun phrase or a verb: The …, Returns …"),
    ("/// who", "a noun phrase or a verb: The …, Returns …"),
];

/// An occurrence of a banned word.
struct Occurrence<'a> {
    path: &'a str,
    line: usize,
    word: &'static str,
    replacement: &'static str,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let recorded = tree.file(RECORD).map(|file| parse(&file.text)).unwrap_or_default();
    let found = counts(tree);
    let units = found.keys().chain(recorded.keys().filter(|unit| !found.contains_key(*unit)));
    let findings = units.filter_map(|unit| {
        let number = |counts: &BTreeMap<String, usize>| counts.get(unit).copied().unwrap_or(0);
        match (number(&found), number(&recorded)) {
            (found, recorded) if found > recorded => {
                let help = "`cargo xtask tidy --words` lists them with their replacements";
                Some(Finding::new(unit, 0, format!("{found} banned words, {recorded} on record; {help}")))
            }
            (found, recorded) if found < recorded => {
                let help = "lower the number with `cargo xtask tidy --bless`";
                Some(Finding::new(unit, 0, format!("{found} banned words, {recorded} on record; {help}")))
            }
            _ => None,
        }
    });
    findings.collect()
}

/// Prints every banned word with its replacement.
pub(crate) fn list(workspace: &Workspace) -> Result<()> {
    let tree = Tree::read(&workspace.root)?;
    for Occurrence { path, line, word, replacement } in tree.files.iter().flat_map(occurrences) {
        println!("{path}:{line}: {word:?}: use {replacement}");
    }
    Ok(())
}

/// Writes the current numbers to the record.
pub(crate) fn bless(workspace: &Workspace) -> Result<()> {
    let lines = counts(&Tree::read(&workspace.root)?).into_iter().map(|(unit, count)| format!("{unit} {count}\n"));
    fs::write(workspace.root.join(RECORD), lines.collect::<String>()).map_err(|error| format!("{RECORD}: {error}"))
}

fn parse(record: &str) -> BTreeMap<String, usize> {
    let entries = record.lines().filter_map(|line| line.rsplit_once(' '));
    entries.filter_map(|(unit, count)| Some((unit.to_owned(), count.parse().ok()?))).collect()
}

fn counts(tree: &Tree) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for Occurrence { path, .. } in tree.files.iter().flat_map(occurrences) {
        *counts.entry(unit(path)).or_default() += 1;
    }
    counts
}

/// The crate of a source file, or a document itself.
fn unit(path: &str) -> String {
    let depth = match path {
        _ if path.ends_with(".md") => usize::MAX,
        _ if path.starts_with("crates/") => 2,
        _ => 1,
    };
    path.split('/').take(depth).collect::<Vec<_>>().join("/")
}

fn occurrences(file: &File) -> Vec<Occurrence<'_>> {
    if file.path == THIS_FILE {
        return Vec::new();
    }
    let lines = prose::of(file).into_iter();
    let found = lines.flat_map(|(line, text)| {
        let text = text.trim().to_lowercase();
        BANNED.iter().flat_map(move |(word, replacement)| {
            let count = text.match_indices(word).filter(|(at, _)| is_match(&text, word, *at)).count();
            std::iter::repeat_n((line, *word, *replacement), count)
        })
    });
    found.map(|(line, word, replacement)| Occurrence { path: &file.path, line, word, replacement }).collect()
}

/// Whether it is a whole word here, and means what is banned.
fn is_match(text: &str, word: &str, at: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + word.len()..]);
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let is_whole = !before.ends_with(is_letter) && !after.starts_with(is_letter);
    let is_fine = match word {
        // "There is no table", "is no longer there".
        "is no" | "are no" => {
            before.ends_with("there ") || [" longer", " more", " less"].iter().any(|rest| after.starts_with(rest))
        }
        "/// what" | "/// who" => !before.is_empty(),
        _ => false,
    };
    is_whole && !is_fine
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str, text: &str) -> Vec<&'static str> {
        let tree = Tree::of(&[(path, text)]);
        tree.files.iter().flat_map(occurrences).map(|found| found.word).collect()
    }

    #[test]
    fn whole_words_and_phrases_are_found_in_prose_only() {
        assert_eq!(words("a.md", "Nobody is told anew."), ["nobody", "told", "anew"]);
        assert_eq!(words("a.md", "Besides, the crossroads `answer` re-answer."), [""; 0]);
        assert_eq!(
            words("a.rs", "/// What it is.\nfn answer() {} // nobody\nlet x = \"no answer\";"),
            ["/// what", "answer"]
        );
    }

    #[test]
    fn phrases_with_a_plain_meaning_are_fine() {
        assert_eq!(words("a.md", "There is no table. It is no longer there. It is no ETag."), ["is no"]);
    }

    #[test]
    fn more_than_recorded_and_less_than_recorded_are_findings() {
        let messages = |record: &str| -> Vec<String> {
            let tree =
                Tree::of(&[("crates/a/src/x.rs", "/// Told.\n/// Told."), ("docs/b.md", "fine"), (RECORD, record)]);
            check(&tree).into_iter().map(|finding| finding.to_string()).collect()
        };
        assert_eq!(messages("crates/a 2\n"), [""; 0]);
        assert!(messages("crates/a 1\n")[0].starts_with("crates/a: 2 banned words, 1 on record"));
        assert!(messages("crates/a 3\n")[0].contains("--bless"));
        assert!(messages("crates/a 2\ndocs/b.md 1\n")[0].starts_with("docs/b.md: 0 banned words"));
    }

    #[test]
    fn a_number_belongs_to_a_crate_or_to_a_document() {
        assert_eq!(unit("crates/kv/src/a/b.rs"), "crates/kv");
        assert_eq!(unit("xtask/src/a.rs"), "xtask");
        assert_eq!(unit("docs/decisions/0001-a.md"), "docs/decisions/0001-a.md");
    }
}
