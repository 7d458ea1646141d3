//! The crates that are published, as cargo packages them, in the order in which the registry needs them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::Result;
use crate::process::child::{self, TAIL_LINES};
use crate::workspace::{Workspace, cargo};

const LIMIT: Duration = Duration::from_secs(30 * 60);

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    pub(super) resolve: Option<Resolve>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) source: Option<String>,
    /// The lowest version of Rust that its manifest promises.
    rust_version: Option<String>,
    /// An empty list forbids publication.
    publish: Option<Vec<String>>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Resolve {
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) deps: Vec<NodeDependency>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct NodeDependency {
    pub(super) pkg: String,
    pub(super) dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct DependencyKind {
    pub(super) kind: Option<String>,
}

/// Asks cargo about the workspace, with or without its dependencies.
pub(super) fn metadata(workspace: &Workspace, arguments: &[&str]) -> Result<Metadata> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--locked"]).args(arguments).current_dir(&workspace.root);
    let output = command.output().map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The names of the crates that may be published: each comes after those that it depends on.
pub(crate) fn in_order(workspace: &Workspace) -> Result<Vec<String>> {
    order(&published(workspace)?)
}

/// The names of the crates that may be published, by the version of Rust that their manifests promise.
pub(crate) fn by_rust_version(workspace: &Workspace) -> Result<BTreeMap<String, Vec<String>>> {
    group_by_rust_version(published(workspace)?)
}

fn published(workspace: &Workspace) -> Result<Vec<Package>> {
    let packages = metadata(workspace, &["--no-deps"])?.packages;
    Ok(packages.into_iter().filter(|package| package.publish.is_none()).collect())
}

fn group_by_rust_version(packages: Vec<Package>) -> Result<BTreeMap<String, Vec<String>>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Package { name, rust_version, .. } in packages {
        let version = rust_version.ok_or_else(|| format!("{name} has no rust-version in its manifest: add one"))?;
        groups.entry(version).or_default().push(name);
    }
    Ok(groups)
}

fn order(packages: &[Package]) -> Result<Vec<String>> {
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut waiting: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        // The registry does not need what only tests use.
        let needed = package.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
        let ours = needed.filter(|dependency| dependency.path.is_some()).map(|dependency| dependency.name.as_str());
        let ours: BTreeSet<&str> = ours.collect();
        if let Some(private) = ours.iter().find(|name| !names.contains(*name)) {
            return Err(format!("{} is published and depends on {private}, which is not", package.name));
        }
        waiting.insert(&package.name, ours);
    }
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let ready = waiting.iter().find(|(_, needed)| needed.is_empty()).map(|(name, _)| *name);
        let ready = ready.ok_or("crates depend on each other in a circle")?;
        waiting.remove(ready);
        for needed in waiting.values_mut() {
            needed.remove(ready);
        }
        ordered.push(ready.to_owned());
    }
    Ok(ordered)
}

/// Packages all of them, and returns the files in order. With `is_verified`, cargo also builds each from its package.
pub(crate) fn package(workspace: &Workspace, number: &str, is_verified: bool) -> Result<Vec<PathBuf>> {
    let names = in_order(workspace)?;
    let mut command = cargo();
    command.args(["package", "--locked", "--allow-dirty"]).current_dir(&workspace.root);
    command.args(names.iter().flat_map(|name| ["--package", name]));
    if !is_verified {
        // Everything that they need was there for the build.
        command.args(["--no-verify", "--offline"]);
    }
    let log = workspace.log("package-crates");
    let end = child::run(&mut command, &log, LIMIT)?;
    if !end.is_success() {
        return Err(format!("cargo package: {end}; see {}\n{}", workspace.shown(&log), child::tail(&log, TAIL_LINES)));
    }
    let folder = workspace.target.join("package");
    Ok(names.iter().map(|name| folder.join(format!("{name}-{number}.crate"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[(&str, Option<&str>)]) -> Package {
        let dependencies = needs.iter().map(|(name, kind)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
            path: Some("there".to_owned()),
        });
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: None,
            source: None,
            rust_version: Some("1.89".to_owned()),
            publish: None,
            dependencies: dependencies.collect(),
        }
    }

    #[test]
    fn crates_are_grouped_by_the_version_that_they_promise() {
        let newer = Package { rust_version: Some("1.95".to_owned()), ..package("server", &[]) };
        let groups = group_by_rust_version(vec![package("client", &[]), newer, package("protocol", &[])]).unwrap();
        let names: Vec<(&str, String)> = groups.iter().map(|(rust, names)| (rust.as_str(), names.join(" "))).collect();
        assert_eq!(names, [("1.89", "client protocol".to_owned()), ("1.95", "server".to_owned())]);
        let silent = Package { rust_version: None, ..package("silent", &[]) };
        assert!(group_by_rust_version(vec![silent]).unwrap_err().contains("rust-version"));
    }

    #[test]
    fn a_crate_comes_after_those_that_it_needs() {
        let packages =
            [package("a", &[("c", None)]), package("b", &[]), package("c", &[("b", None), ("a", Some("dev"))])];
        assert_eq!(order(&packages).unwrap(), ["b", "c", "a"]);
        assert!(order(&[package("a", &[("private", None)])]).unwrap_err().contains("private"));
        assert!(order(&[package("a", &[("b", None)]), package("b", &[("a", None)])]).is_err());
    }
}
