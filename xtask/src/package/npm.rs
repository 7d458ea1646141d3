//! The npm packages: one with the code, and one for each platform with the binary, of which npm installs the right one.

use std::fs;

use serde_json::{Value, json};

use crate::Result;
use crate::archive::file_tree::FileTree;
use crate::archive::gzip;
use crate::package::binary::Binary;
use crate::package::sources;
use crate::package::version::Version;
use crate::workspace::Workspace;

/// The platforms that releases have, by the names of Node.js.
const PLATFORMS: [(&str, &str); 5] =
    [("darwin", "arm64"), ("darwin", "x64"), ("linux", "arm64"), ("linux", "x64"), ("win32", "x64")];

/// A package as the registry takes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NpmPackage {
    pub(crate) file_name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Makes the package with the binary of this platform, and the one with the code, in the order of their publication.
pub(crate) fn make(workspace: &Workspace, version: &Version, binary: &Binary) -> Result<[NpmPackage; 2]> {
    let (os, cpu) = platform();
    let name = format!("tablerock-{os}-{cpu}");
    let mut files = FileTree::default();
    files.program(&format!("package/bin/tablerock{}", std::env::consts::EXE_SUFFIX), binary.bytes.clone());
    let mut manifest = json!({
        "name": name,
        "version": version.number,
        "description": format!("The binary of the package tablerock for {os} on {cpu}"),
        "license": "MIT OR Apache-2.0",
        "os": [os],
        "cpu": [cpu],
    });
    if binary.glibc().is_some() {
        manifest["libc"] = json!(["glibc"]);
    }
    let platform_package = package(workspace, version, files, &manifest)?;

    let folder = workspace.root.join("packaging/npm/tablerock");
    let mut files = FileTree::default();
    let mut manifest = Value::Null;
    for (path, bytes) in sources::read(&folder)? {
        match path.as_str() {
            "package.json" => manifest = serde_json::from_slice(&bytes).map_err(|error| format!("{path}: {error}"))?,
            _ if path.starts_with("bin/") => files.program(&format!("package/{path}"), bytes),
            _ => files.file(&format!("package/{path}"), bytes),
        }
    }
    let optional = PLATFORMS.iter().map(|(os, cpu)| (format!("tablerock-{os}-{cpu}"), json!(version.number)));
    manifest["version"] = json!(version.number);
    manifest["optionalDependencies"] = Value::Object(optional.collect());
    Ok([platform_package, package(workspace, version, files, &manifest)?])
}

fn package(workspace: &Workspace, version: &Version, mut files: FileTree, manifest: &Value) -> Result<NpmPackage> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let bytes = fs::read(workspace.root.join(name)).map_err(|error| format!("{name}: {error}"))?;
        files.file(&format!("package/{name}"), bytes);
    }
    files.file("package/package.json", format!("{manifest:#}\n"));
    let file_name = format!("{}-{}.tgz", manifest["name"].as_str().unwrap_or_default(), version.number);
    Ok(NpmPackage { file_name, bytes: gzip::compress(&files.to_tar("", version.time)?) })
}

/// The platform of this machine, by the names of Node.js.
fn platform() -> (&'static str, &'static str) {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    (os, cpu)
}
