//! The settings of `deny.toml` and their checks.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::graph::{Graph, Package};
use super::license::License;
use crate::Result;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The file. A setting of cargo-deny that is not here is an error, so that none seems to hold and does not.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) graph: GraphSettings,
    licenses: Licenses,
    /// Checked by cargo-deny only.
    #[serde(rename = "advisories")]
    _advisories: toml::Table,
    bans: Bans,
    #[serde(rename = "sources")]
    _sources: Sources,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct GraphSettings {
    pub(super) all_features: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<LicenseException>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LicenseException {
    allow: Vec<String>,
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Bans {
    #[serde(rename = "multiple-versions")]
    _multiple_versions: Deny,
    #[serde(rename = "wildcards")]
    _wildcards: Deny,
    #[serde(rename = "allow-wildcard-paths")]
    _allow_wildcard_paths: True,
    deny: Vec<Named>,
    skip: Vec<Named>,
}

/// A crate, with a version after `@` if only that one is meant, and why it is listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Sources {
    #[serde(rename = "unknown-registry")]
    _unknown_registry: Deny,
    #[serde(rename = "unknown-git")]
    _unknown_git: Deny,
}

/// The only level that is checked here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Deny {
    Deny,
}

/// A switch that is on.
#[derive(Debug, Deserialize)]
#[serde(try_from = "bool")]
struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(is_on: bool) -> std::result::Result<Self, Self::Error> {
        if is_on { Ok(Self) } else { Err("only true is checked") }
    }
}

impl Policy {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let policy: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let Bans { deny, skip, .. } = &policy.bans;
        match deny.iter().chain(skip).find(|named| named.reason.trim().is_empty()) {
            Some(named) => Err(format!("{} has no reason", named.name)),
            None => Ok(policy),
        }
    }

    /// Returns one line for each violation, and for each entry of the policy that has no effect.
    pub(super) fn check(&self, graph: &Graph) -> Vec<String> {
        let mut findings = self.check_licenses(graph);
        findings.extend(self.check_banned(graph));
        findings.extend(self.check_versions(graph));
        findings.extend(check_wildcards(graph));
        findings.extend(check_sources(graph));
        findings
    }

    fn check_licenses(&self, graph: &Graph) -> Vec<String> {
        let Licenses { allow, exceptions } = &self.licenses;
        let mut findings = Vec::new();
        let mut named = Vec::new();
        for package in &graph.packages {
            let text = package.license.as_deref().unwrap_or_default();
            let Some(license) = License::parse(text) else {
                findings.push(format!("{package}: {text:?} is not a license expression"));
                continue;
            };
            let exceptions = exceptions.iter().filter(|exception| exception.name == package.name);
            let exceptions: Vec<&String> = exceptions.flat_map(|exception| &exception.allow).collect();
            if !license.is_satisfied(&|name| allow.iter().chain(exceptions.iter().copied()).any(|known| known == name))
            {
                findings.push(format!("{package}: the license {text} is not allowed"));
            }
            named.push(license);
        }
        let is_unused = |license: &&String| !named.iter().any(|known| known.names(license));
        let unused = allow.iter().filter(is_unused).map(|license| format!("the allowed license {license} is not used"));
        let has_package = |name: &str| graph.packages.iter().any(|package| package.name == name);
        let stale = exceptions.iter().filter(|exception| !has_package(&exception.name));
        findings.extend(unused);
        findings.extend(stale.map(|exception| format!("the license exception for {} is not used", exception.name)));
        findings
    }

    fn check_banned(&self, graph: &Graph) -> Vec<String> {
        let banned = |package: &Package| self.bans.deny.iter().find(|named| named.covers(package));
        let packages = graph.packages.iter().filter_map(|package| banned(package).map(|named| (package, named)));
        packages.map(|(package, named)| format!("{package} is banned: {}", named.reason)).collect()
    }

    /// A second version is a finding, unless all versions but one are listed with a reason.
    fn check_versions(&self, graph: &Graph) -> Vec<String> {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let is_skipped = |package: &&Package| self.bans.skip.iter().any(|named| named.covers(package));
        for package in graph.packages.iter().filter(|package| !is_skipped(package)) {
            versions.entry(&package.name).or_default().push(&package.version);
        }
        let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
        let mut findings: Vec<String> = several
            .map(|(name, versions)| format!("{name} has the versions {}: keep one", versions.join(" and ")))
            .collect();
        let is_second = |named: &&Named| {
            let is_skipped = |package: &&Package| named.covers(package);
            let has_other = |skipped: &Package| {
                graph.packages.iter().any(|other| other.name == skipped.name && other.version != skipped.version)
            };
            graph.packages.iter().find(is_skipped).is_some_and(has_other)
        };
        let stale = self.bans.skip.iter().filter(|named| !is_second(named));
        findings.extend(stale.map(|named| format!("{} is not a second version: remove it from skip", named.name)));
        findings
    }
}

/// A requirement of any version. Registries do not accept them; a path has no version until it is published.
fn check_wildcards(graph: &Graph) -> Vec<String> {
    let dependencies =
        graph.packages.iter().flat_map(|package| package.dependencies.iter().map(move |one| (package, one)));
    let any_version = dependencies.filter(|(_, dependency)| dependency.req == "*" && dependency.path.is_none());
    any_version.map(|(package, dependency)| format!("{package} accepts any version of {}", dependency.name)).collect()
}

fn check_sources(graph: &Graph) -> Vec<String> {
    let foreign = |package: &&Package| package.source.as_deref().is_some_and(|source| source != CRATES_IO);
    let packages = graph.packages.iter().filter(foreign);
    packages.map(|package| format!("{package} comes from {}", package.source.as_deref().unwrap_or_default())).collect()
}

impl Named {
    /// `name` covers every version, `name@0.14` all versions that begin so.
    fn covers(&self, package: &Package) -> bool {
        match self.name.split_once('@') {
            None => self.name == package.name,
            Some((name, version)) => {
                let rest = package.version.strip_prefix(version);
                name == package.name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '+']))
            }
        }
    }
}

impl std::fmt::Display for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const POLICY: &str = r#"
        [graph]
        all-features = true
        [licenses]
        allow = ["MIT"]
        exceptions = [{ allow = ["NCSA"], crate = "fuzzer" }]
        [advisories]
        yanked = "deny"
        [bans]
        multiple-versions = "deny"
        wildcards = "deny"
        allow-wildcard-paths = true
        deny = [{ crate = "openssl-sys", reason = "TLS is rustls" }]
        skip = [{ crate = "hash@0.14", reason = "an old one" }]
        [sources]
        unknown-registry = "deny"
        unknown-git = "deny"
    "#;

    fn package(name: &str, version: &str, license: &str) -> Value {
        json!({ "name": name, "version": version, "license": license, "source": CRATES_IO, "dependencies": [] })
    }

    /// The findings for a graph that is in order but for one more package.
    fn findings(more: Value) -> Vec<String> {
        let mut packages = vec![
            package("fuzzer", "1.0.0", "MIT AND NCSA"),
            package("hash", "0.14.5", "MIT"),
            package("hash", "0.17.1", "MIT OR GPL-3.0-only"),
        ];
        packages.extend(Some(more).filter(|more| !more.is_null()));
        let graph = serde_json::to_vec(&json!({ "packages": packages })).unwrap();
        Policy::parse(POLICY).unwrap().check(&Graph::parse(&graph).unwrap())
    }

    #[test]
    fn each_violation_is_one_finding() {
        assert_eq!(findings(Value::Null), Vec::<String>::new());
        let mut git = package("forked", "1.0.0", "MIT");
        git["source"] = "git+https://example.com/forked".into();
        let mut wildcard = package("loose", "1.0.0", "MIT");
        wildcard["dependencies"] = json!([{ "name": "any", "req": "*", "path": null }]);
        let mut unlicensed = package("unlicensed", "1.0.0", "");
        unlicensed["license"] = Value::Null;
        for (more, part) in [
            (package("copyleft", "1.0.0", "GPL-3.0-only"), "copyleft 1.0.0: the license GPL-3.0-only is not allowed"),
            (package("other", "1.0.0", "MIT AND NCSA"), "other 1.0.0: the license MIT AND NCSA"),
            (unlicensed, "is not a license expression"),
            (package("openssl-sys", "0.9.1", "MIT"), "openssl-sys 0.9.1 is banned: TLS is rustls"),
            (package("hash", "0.15.0", "MIT"), "hash has the versions 0.17.1 and 0.15.0"),
            (git, "forked 1.0.0 comes from git+"),
            (wildcard, "loose 1.0.0 accepts any version of any"),
        ] {
            let findings = findings(more);
            assert!(findings.len() == 1 && findings[0].contains(part), "{part}: {findings:?}");
        }
    }

    #[test]
    fn an_entry_without_effect_is_a_finding() {
        let graph = serde_json::to_vec(&json!({ "packages": [package("hash", "0.14.5", "ISC OR MIT")] })).unwrap();
        let policy = Policy::parse(&POLICY.replace("[\"MIT\"]", "[\"ISC\", \"MIT\", \"Zlib\"]")).unwrap();
        let findings = policy.check(&Graph::parse(&graph).unwrap());
        let expected = ["Zlib is not used", "exception for fuzzer", "hash@0.14 is not a second version"];
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for part in expected {
            assert!(findings.iter().any(|finding| finding.contains(part)), "{part}: {findings:?}");
        }
    }

    #[test]
    fn a_setting_that_is_not_checked_is_an_error() {
        for (from, to) in [
            ("yanked", "[other]\n"),
            ("all-features = true", "all-features = true\ntargets = []"),
            ("wildcards = \"deny\"", "wildcards = \"allow\""),
            ("reason = \"an old one\"", "reason = \"\""),
        ] {
            assert!(Policy::parse(&POLICY.replace(from, to)).is_err(), "{to}");
        }
    }
}
