//! Who may use whom among our crates. The layers stay layers only while a manifest cannot quietly skip one.

use toml::{Table, Value};

use super::Finding;
use super::tree::{File, Tree};

const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The crate that tests share. It uses the crates that it helps to test, so only their tests and tools may use it.
const TESTKIT: &str = "tablerock-testkit";
const TOOLS: [&str; 3] = ["xtask", "tablerock-crash", "tablerock-fuzz"];

/// The map: a package, and which of ours it may use; a name that ends with a dash stands for all that begin with it.
fn allowed(package: &str) -> Option<&'static [&'static str]> {
    Some(match package {
        "tablerock-protocol" => &[],
        // Itself, for its tests: with the feature that only tests need.
        "tablerock-kv" => &["tablerock-kv"],
        TESTKIT => {
            &["tablerock-client", "tablerock-kv", "tablerock-protocol", "tablerock-server", "tablerock-services"]
        }
        engine if engine.starts_with("tablerock-kv-") => &["tablerock-kv"],
        "tablerock-services" => &["tablerock-protocol", "tablerock-kv"],
        // The floor's clock and store travel through the server; it names no engine.
        "tablerock-server" => &["tablerock-protocol", "tablerock-services", "tablerock-kv"],
        // Itself, for its tests: with every feature.
        "tablerock-client" => &["tablerock-client", "tablerock-client-derive", "tablerock-protocol"],
        "tablerock-client-derive" => &[],
        "tablerock-patterns" => &["tablerock-client"],
        // The client is for its tests.
        "tablerock-testing" => {
            &["tablerock-client", "tablerock-kv", "tablerock-protocol", "tablerock-server", "tablerock-services"]
        }
        // As an application of others uses it.
        "tablerock-example-todo" => &["tablerock-client", "tablerock-testing"],
        "tablerock" => &["tablerock-"],
        // A mistake that a black-box case shares with the server would go unseen.
        "tablerock-conformance" | "tablerock-crash-shim" | "xtask" => &[],
        // It is the client, for the suites of other clients.
        "tablerock-rust-client" => &["tablerock-client"],
        // Both speak to the server from outside; the engines are there to be measured alone or to prepare data.
        "tablerock-bench" => &["tablerock-client", "tablerock-protocol", "tablerock-kv", "tablerock-kv-"],
        "tablerock-crash" => &["tablerock-conformance", "tablerock-kv-"],
        // What is parsed, decided and stored, as libraries; no engine but the one in memory.
        "tablerock-fuzz" => &["tablerock-protocol", "tablerock-kv", "tablerock-services", "tablerock-server"],
        _ => return None,
    })
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending("Cargo.toml").flat_map(check_manifest).collect()
}

fn check_manifest(file: &File) -> Vec<Finding> {
    let manifest: Table = match toml::from_str(&file.text) {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new(&file.path, 0, error.message())],
    };
    let Some(package) = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str) else {
        return Vec::new();
    };
    let Some(allowed) = allowed(package) else {
        let message = format!("{package} is not on the map of crates; say in the tidy rule whom it may use");
        return vec![Finding::new(&file.path, 0, message)];
    };
    let may_use =
        |name: &str| allowed.iter().any(|ours| name == *ours || (ours.ends_with('-') && name.starts_with(ours)));
    let is_fine = |kind: &str, name: &str| match name {
        TESTKIT => kind == "dev-dependencies" || TOOLS.contains(&package),
        _ => may_use(name),
    };
    let refused = ours_in(&manifest).into_iter().filter(|(kind, name)| !is_fine(kind, name));
    refused.map(|(_, name)| Finding::new(&file.path, 0, format!("{package} may not use {name}"))).collect()
}

/// Our crates among the dependencies, each with its kind, those for some platforms only included.
fn ours_in(manifest: &Table) -> Vec<(&'static str, String)> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = platforms.filter_map(Value::as_table).chain([manifest]);
    let kinds = tables.flat_map(|table| KINDS.iter().filter_map(|kind| Some((*kind, table.get(*kind)?.as_table()?))));
    let packages = kinds.flat_map(|(kind, table)| table.iter().map(move |entry| (kind, package_name(entry))));
    packages.filter(|(_, name)| name.starts_with("tablerock")).collect()
}

/// A dependency may be renamed, so its key is not always the package.
fn package_name((key, dependency): (&String, &Value)) -> String {
    dependency.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(package: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{package}\"\n{rest}");
        let tree = Tree::of(&[("crates/a/Cargo.toml", &text)]);
        check(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn an_edge_that_is_not_on_the_map_is_found() {
        let rest = "[dependencies]\nbytes = \"1\"\ntablerock-kv.workspace = true";
        assert_eq!(findings("tablerock-protocol", rest), ["tablerock-protocol may not use tablerock-kv"]);
        assert_eq!(findings("tablerock-services", rest), [""; 0]);
    }

    #[test]
    fn tests_platforms_and_renamed_crates_are_held_to_the_map_too() {
        let dev = "[dev-dependencies]\ntablerock-kv-local.workspace = true";
        assert_eq!(findings("tablerock-services", dev).len(), 1);
        let platform =
            "[target.'cfg(unix)'.dependencies]\nfloor = { package = \"tablerock-kv-local\", path = \"../x\" }";
        assert_eq!(findings("tablerock-server", platform).len(), 1);
    }

    #[test]
    fn the_binary_may_use_all_and_an_engine_only_the_floor() {
        let rest = "[dependencies]\ntablerock-kv.workspace = true\ntablerock-kv-local.workspace = true";
        assert_eq!(findings("tablerock", rest), [""; 0]);
        assert_eq!(findings("tablerock-kv-sql", rest), ["tablerock-kv-sql may not use tablerock-kv-local"]);
    }

    #[test]
    fn the_testkit_is_for_tests_and_tools() {
        let dev = "[dev-dependencies]\ntablerock-testkit = { path = \"../testkit\" }";
        assert_eq!(findings("tablerock-kv-local", dev), [""; 0]);
        let shipped = "[dependencies]\ntablerock-testkit = { path = \"../testkit\" }";
        assert_eq!(findings("tablerock", shipped), ["tablerock may not use tablerock-testkit"]);
        assert_eq!(findings("xtask", shipped), [""; 0]);
    }

    #[test]
    fn a_crate_that_is_not_on_the_map_is_found() {
        assert_eq!(findings("tablerock-new", "").len(), 1);
    }
}
