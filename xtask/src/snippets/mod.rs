//! The step `snippets` of `cargo xtask test`: every code block of the documents is checked by a parser of its language.
//!
//! Blocks of Rust that are compiled and run are elsewhere: the pages about the client are compared with tests, and the READMEs of
//! crates are their doc tests.

mod block;
mod parsers;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use self::block::Block;
use self::parsers::Missing;
use crate::Result;
use crate::conform;
use crate::summary::Row;
use crate::tidy;
use crate::workspace::Workspace;

/// The number of problems that are printed for a language.
const PROBLEMS_PRINTED_MAX: usize = 20;

/// Languages without a parser here, and the reason.
const UNCHECKED: [(&str, &str); 6] = [
    ("text", "prose, output and formats"),
    ("csharp", "no suite needs .NET"),
    ("ini", "systemd-analyze reads the unit itself"),
    ("sql", "the dialect depends on the database"),
    ("keys", "the test keys_document reads them"),
    ("store", "the test keys_document reads them"),
];

/// Checks all blocks, with a row for each language.
pub(crate) fn step(workspace: &Workspace) -> Vec<Row> {
    let by_language = match collect(workspace) {
        Ok(blocks) => blocks,
        Err(why) => {
            println!("snippets: FAILED: {why}");
            return vec![Row::failed("snippets", Duration::ZERO)];
        }
    };
    by_language.iter().filter_map(|(language, blocks)| check(workspace, language, blocks)).collect()
}

/// All blocks with a language, and the files that people copy as they are.
fn collect(workspace: &Workspace) -> Result<BTreeMap<String, Vec<Block>>> {
    let mut by_language: BTreeMap<String, Vec<Block>> = BTreeMap::new();
    for (path, text) in tidy::documents(workspace)? {
        for block in block::in_document(&path, &text) {
            by_language.entry(block.language.clone()).or_default().push(block);
        }
    }
    for suffix in [".yaml", ".yml"] {
        for (path, text) in tidy::files_ending(workspace, suffix)? {
            by_language.entry("yaml".to_owned()).or_default().push(Block::file(path, text));
        }
    }
    Ok(by_language)
}

/// Returns nothing for a language that is not checked.
fn check(workspace: &Workspace, language: &str, blocks: &[Block]) -> Option<Row> {
    if UNCHECKED.iter().any(|(unchecked, _)| *unchecked == language) {
        return None;
    }
    let name = format!("snippets {language}");
    let started = Instant::now();
    let problems = match parsers::parse(workspace, language, blocks) {
        Ok(problems) => problems,
        Err(Missing(why)) => return Some(conform::cannot_run(&name, "blocks", &why)),
    };
    let (failed, time) = (problems.len(), started.elapsed());
    for problem in problems.iter().take(PROBLEMS_PRINTED_MAX) {
        println!("{name}: {problem}");
    }
    let passed = blocks.len().saturating_sub(failed);
    match failed {
        0 => println!("{name}: ok, {passed} blocks, {:.1} s", time.as_secs_f64()),
        _ => println!("{name}: FAILED, {failed} of {} blocks", blocks.len()),
    }
    Some(Row { name, passed, failed, time, ..Row::default() })
}
