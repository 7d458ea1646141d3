//! The bill of materials of the binary: every crate in it, as CycloneDX in JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::crates::{self, Metadata, Package};
use crate::Result;
use crate::package::version::Version;
use crate::workspace::Workspace;

/// The package whose binary is described.
const ROOT: &str = "tablerock";

/// Makes the document, for the platform of this machine.
pub(crate) fn make(workspace: &Workspace, version: &Version) -> Result<String> {
    let host = host_target()?;
    let metadata = crates::metadata(workspace, &["--filter-platform", &host])?;
    Ok(format!("{:#}\n", document(&metadata, version)?))
}

/// The target that the toolchain builds for.
fn host_target() -> Result<String> {
    let output = std::process::Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or("rustc -vV names no host".to_owned())
}

fn document(metadata: &Metadata, version: &Version) -> Result<Value> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let resolve = metadata.resolve.as_ref().ok_or("cargo metadata has no resolved dependencies")?;
    let edges: BTreeMap<&str, Vec<&str>> = resolve
        .nodes
        .iter()
        .map(|node| {
            let normal =
                node.deps.iter().filter(|dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none()));
            (node.id.as_str(), normal.map(|dependency| dependency.pkg.as_str()).collect())
        })
        .collect();
    let root = metadata.packages.iter().find(|package| package.name == ROOT).ok_or("the workspace has no tablerock")?;
    let linked = reachable(&edges, &root.id);
    let reference = |id: &str| packages.get(id).map(|package| purl(package)).unwrap_or_default();
    let components = linked.iter().filter(|id| **id != root.id).filter_map(|id| packages.get(*id));
    let mut components: Vec<Value> = components.map(|package| component(package, "library")).collect();
    components.sort_by_key(|component| component["purl"].to_string());
    let mut dependencies: Vec<Value> = linked
        .iter()
        .map(|id| {
            let on: BTreeSet<String> = edges.get(id).into_iter().flatten().map(|id| reference(id)).collect();
            json!({ "ref": reference(id), "dependsOn": on })
        })
        .collect();
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": version.timestamp(),
            "component": component(root, "application"),
            "tools": { "components": [{ "type": "application", "name": "xtask", "version": version.number }] },
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn reachable<'a>(edges: &BTreeMap<&'a str, Vec<&'a str>>, root: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::from([root]), vec![root]);
    while let Some(id) = open.pop() {
        for next in edges.get(id).into_iter().flatten() {
            if found.insert(*next) {
                open.push(*next);
            }
        }
    }
    found
}

fn component(package: &Package, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "purl": purl(package),
    });
    if let Some(license) = &package.license {
        // Old crates write a slash for "or".
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if package.source.is_none() {
        component["author"] = json!("The Tablerock authors");
    }
    component
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_linked_is_listed() {
        let package = |name: &str| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
            "source": null, "publish": null, "dependencies": [] })
        };
        let edge = |to: &str, kind: Value| json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] });
        let metadata: Metadata = serde_json::from_value(json!({
            "packages": [package("tablerock"), package("linked"), package("deeper"), package("test")],
            "resolve": { "nodes": [
                { "id": "tablerock", "deps": [edge("linked", Value::Null), edge("test", json!("dev"))] },
                { "id": "linked", "deps": [edge("deeper", Value::Null)] },
                { "id": "deeper", "deps": [] },
                { "id": "test", "deps": [] },
            ] },
        }))
        .unwrap();
        let version = Version { number: "1.0.0".to_owned(), commit: None, time: 0 };
        let document = document(&metadata, &version).unwrap();
        let names: Vec<&str> =
            document["components"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["deeper", "linked"]);
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
