//! The limits in `docs/operating.md` are those of the source: each row names a constant, the crate or file that has it, and its
//! value.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{File, Tree};

const DOCUMENT: &str = "docs/operating.md";
const HEADER: &str = "| constant | in | value | meaning |";

/// The value of a constant. A constant without a unit in its type or in the document is a plain number.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Limit {
    Number(u64),
    Between(u64, u64),
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(document) = tree.file(DOCUMENT) else { return vec![Finding::new(DOCUMENT, 0, "there is no such file")] };
    let rows = rows(&document.text);
    if rows.is_empty() {
        return vec![Finding::new(DOCUMENT, 0, format!("no table begins with {HEADER}"))];
    }
    let findings = rows
        .into_iter()
        .filter_map(|(line, cells)| compare(tree, &cells).err().map(|message| Finding::new(DOCUMENT, line, message)));
    findings.collect()
}

/// The rows of the tables of limits, with their line numbers: constant, place, value.
fn rows(text: &str) -> Vec<(usize, [String; 3])> {
    let mut is_inside = false;
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        is_inside = line == HEADER || (is_inside && line.starts_with('|'));
        let cells: Vec<&str> = line.split('|').skip(1).map(|cell| cell.trim().trim_matches('`')).collect();
        if let [constant, place, value, ..] = cells[..]
            && is_inside
            && line != HEADER
            && !constant.starts_with('-')
        {
            rows.push((number, [constant, place, value].map(str::to_owned)));
        }
    }
    rows
}

fn compare(tree: &Tree, [constant, place, value]: &[String; 3]) -> Result<(), String> {
    let documented = documented(value).ok_or_else(|| format!("{value:?} of {constant} is not a number with a unit"))?;
    let (package, file) = place.split_once('/').unwrap_or((place, ".rs"));
    let folder = format!("crates/{package}/src/");
    let files = tree.ending(file).filter(|file| file.path.starts_with(&folder));
    let found: Vec<(&File, &str)> =
        files.filter_map(|file| declaration(&file.text, constant).map(|expression| (file, expression))).collect();
    let [(file, expression)] = found[..] else {
        return Err(format!("{} constants {constant} in {place}, expected one", found.len()));
    };
    let actual = evaluate(expression, &constants(tree));
    match actual {
        Some(actual) if actual == documented => Ok(()),
        Some(_) => Err(format!("{constant} is {expression} in {}, not {value}", file.path)),
        None => Err(format!("{constant} = {expression} in {} is not understood", file.path)),
    }
}

/// `const NAME: type = expression;` without its expression's end.
fn declaration<'a>(text: &'a str, constant: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("const {constant}: "))?;
    let (_, expression) = rest.split_once(" = ")?;
    expression.split_once(';').map(|(expression, _)| expression.trim())
}

/// The published limits, by name, for expressions that refer to them.
fn constants(tree: &Tree) -> BTreeMap<String, u64> {
    let text = tree.file("crates/protocol/src/limits.rs").map_or("", |file| file.text.as_str());
    let names = text.split("const ").skip(1).filter_map(|rest| rest.split_once(':')).map(|(name, _)| name);
    let values = names.filter_map(|name| match evaluate(declaration(text, name)?, &BTreeMap::new())? {
        Limit::Number(value) => Some((format!("limits::{name}"), value)),
        Limit::Between(..) => None,
    });
    values.collect()
}

/// `64 KiB`, `30 s`, `1,024`, `32 Ki`, `3 to 63`
fn documented(text: &str) -> Option<Limit> {
    let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
    if let Some((from, to)) = text.split_once(" to ") {
        return Some(Limit::Between(number(from)?, number(to)?));
    }
    let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
    let factor = match unit {
        "" | "s" => 1,
        "Ki" | "KiB" => 1 << 10,
        "Mi" | "MiB" => 1 << 20,
        _ => return None,
    };
    Some(Limit::Number(number(digits)? * factor))
}

/// Products, shifts, durations of seconds and inclusive ranges: the expressions that limits are written with.
fn evaluate(expression: &str, constants: &BTreeMap<String, u64>) -> Option<Limit> {
    if let Some((from, to)) = expression.split_once("..=") {
        return Some(Limit::Between(product(from, constants)?, product(to, constants)?));
    }
    let seconds = expression.strip_prefix("Duration::from_secs(").and_then(|inside| inside.strip_suffix(')'));
    product(seconds.unwrap_or(expression), constants).map(Limit::Number)
}

fn product(expression: &str, constants: &BTreeMap<String, u64>) -> Option<u64> {
    if let Some((number, shift)) = expression.split_once("<<") {
        return Some(product(number, constants)? << product(shift, constants)?);
    }
    expression.split('*').map(str::trim).try_fold(1_u64, |all, factor| {
        let value = match factor {
            "u16::MAX as usize" => u64::from(u16::MAX),
            _ => constants.get(factor).copied().or_else(|| factor.replace('_', "").parse().ok())?,
        };
        all.checked_mul(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &str, source: &str) -> Vec<String> {
        let document = format!("Text\n\n{HEADER}\n| --- | --- | --- | --- |\n{rows}\n");
        let tree = Tree::of(&[(DOCUMENT, &document), ("crates/kv/src/a/store.rs", source)]);
        check(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn values_are_compared_with_the_source_wherever_the_file_is() {
        let source = "const A_MAX: usize = 64 << 10;\nconst B_TIME: Duration = Duration::from_secs(30);\npub const C: X<usize> = 3..=63;\n\
            const D: usize = 10_000;\nconst E: usize = 7 * 24;\nconst F: usize = u16::MAX as usize;";
        let rows = "| `A_MAX` | `kv` | 64 KiB | x |\n| `B_TIME` | `kv/store.rs` | 30 s | x |\n| `C` | `kv` | 3 to 63 | x |\n\
            | `D` | `kv` | 10,000 | x |\n| `E` | `kv` | 168 | x |\n| `F` | `kv` | 65,535 | x |";
        assert_eq!(found(rows, source), [""; 0]);
        assert_eq!(
            found("| `A_MAX` | `kv` | 32 KiB | x |", source),
            ["A_MAX is 64 << 10 in crates/kv/src/a/store.rs, not 32 KiB"]
        );
    }

    #[test]
    fn a_missing_constant_or_an_unreadable_value_is_found() {
        assert_eq!(found("| `A` | `kv` | 1 | x |", ""), ["0 constants A in kv, expected one"]);
        assert_eq!(
            found("| `A` | `kv` | some | x |", "const A: u8 = 1;"),
            ["\"some\" of A is not a number with a unit"]
        );
        assert_eq!(
            found("| `A` | `kv` | 1 | x |", "const A: u8 = b();"),
            ["A = b() in crates/kv/src/a/store.rs is not understood"]
        );
        assert_eq!(check(&Tree::of(&[(DOCUMENT, "no table")])).len(), 1);
    }
}
