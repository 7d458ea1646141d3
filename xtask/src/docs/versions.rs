//! The versions of the clients, read where they are pinned.

use std::fs;

use serde_json::Value;

use crate::Result;
use crate::environments::AZURITE_VERSION;
use crate::workspace::Workspace;

const PYTHON: &str = "azure-data-tables";
const JAVASCRIPT: &str = "@azure/data-tables";
const LEGACY: &str = "azure-storage";
const GO: &str = "github.com/Azure/azure-sdk-for-go/sdk/data/aztables";
const JAVA: &str = "azure-data-tables";
const AZ: &str = "azure-cli";

pub(super) fn markdown(workspace: &Workspace) -> Result<String> {
    let read = |path: &str| {
        let path = workspace.sdk(path);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", workspace.shown(&path)))
    };
    let rows = [
        ("Python", PYTHON, in_requirements(&read("python/requirements.txt")?, PYTHON)),
        ("JavaScript", JAVASCRIPT, in_package_lock(&read("js/package-lock.json")?, JAVASCRIPT)),
        ("azure-storage", LEGACY, in_package_lock(&read("legacy-node/package-lock.json")?, LEGACY)),
        ("Go", GO, in_go_mod(&read("go/go.mod")?, GO)),
        ("Java", "com.azure:azure-data-tables", in_pom(&read("java/pom.xml")?, JAVA)),
        ("az", AZ, in_requirements(&read("az/requirements.txt")?, AZ)),
        ("compared with", "azurite", Some(AZURITE_VERSION.to_owned())),
    ];
    let mut text = "| client | package | version |\n| --- | --- | --- |\n".to_owned();
    for (client, package, version) in rows {
        let version = version.ok_or_else(|| format!("the version of {package} is pinned nowhere"))?;
        text += &format!("| {client} | `{package}` | {version} |\n");
    }
    Ok(text)
}

/// `name==1.2.3`
fn in_requirements(text: &str, package: &str) -> Option<String> {
    text.lines().find_map(|line| line.trim().strip_prefix(package)?.strip_prefix("==")).map(str::to_owned)
}

fn in_package_lock(text: &str, package: &str) -> Option<String> {
    let lock: Value = serde_json::from_str(text).ok()?;
    lock["packages"][format!("node_modules/{package}")]["version"].as_str().map(str::to_owned)
}

/// `module v1.2.3`
fn in_go_mod(text: &str, module: &str) -> Option<String> {
    text.lines().find_map(|line| line.trim().strip_prefix(module)?.trim().strip_prefix('v')).map(str::to_owned)
}

/// The `<version>` that follows the artifact.
fn in_pom(text: &str, artifact: &str) -> Option<String> {
    let (_, behind) = text.split_once(&format!("<artifactId>{artifact}</artifactId>"))?;
    let (_, version) = behind.split_once("<version>")?;
    version.split_once("</version>").map(|(version, _)| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_where_each_language_pins_them() {
        let found = |version: Option<String>| version.unwrap_or_default();
        assert_eq!(found(in_requirements("azure-core==9\nazure-data-tables==12.7.0\n", PYTHON)), "12.7.0");
        let lock = r#"{"packages":{"node_modules/azure-storage":{"version":"2.10.7"}}}"#;
        assert_eq!(found(in_package_lock(lock, LEGACY)), "2.10.7");
        assert_eq!(found(in_go_mod(&format!("require (\n\t{GO} v1.4.1\n)"), GO)), "1.4.1");
        let pom = "<artifactId>azure-data-tables</artifactId>\n  <version>12.5.9</version>";
        assert_eq!(found(in_pom(pom, JAVA)), "12.5.9");
    }
}
