//! The folder of a release, from which `cargo xtask packages --dist` takes every package and the binary itself.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::archive::digest::sha256_hex;
use crate::archive::gzip;
use crate::package::npm::NpmPackage;
use crate::package::release;
use crate::package::version::Version;
use crate::workspace::Workspace;

/// A release, whose checksums are right.
#[derive(Debug)]
pub(super) struct Dist {
    folder: PathBuf,
}

impl Dist {
    /// Opens the folder, and compares every file with its checksum.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let dist = Self { folder: folder.to_owned() };
        let sums = String::from_utf8_lossy(&dist.read("SHA256SUMS")?).into_owned();
        for line in sums.lines() {
            let (digest, name) = line.split_once("  ").ok_or_else(|| format!("SHA256SUMS has the line `{line}`"))?;
            if sha256_hex(&dist.read(name)?) != digest {
                return Err(format!("{name} has another checksum than in SHA256SUMS"));
            }
        }
        Ok(dist)
    }

    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.folder.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}; run `cargo xtask release`", path.display()))
    }

    /// Unpacks the archive and returns the path of its binary.
    pub(super) fn unpack_binary(&self, workspace: &Workspace, version: &Version) -> Result<PathBuf> {
        let name = release::archive_name(version);
        let folder = super::fresh_folder(workspace, "dist")?;
        let tar = gzip::decompress(&self.read(&format!("{name}.tar.gz"))?)?;
        tar::Archive::new(&tar[..]).unpack(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder.join(name).join(format!("tablerock{}", std::env::consts::EXE_SUFFIX)))
    }

    /// The files of a folder, in the order of their names.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.folder.join(folder);
        let entries = fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut names: Vec<String> =
            entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
        names.sort();
        Ok(names)
    }

    /// The npm packages.
    pub(super) fn npm(&self) -> Result<Vec<NpmPackage>> {
        let package = |file_name: String| {
            let bytes = self.read(&format!("npm/{file_name}"))?;
            Ok(NpmPackage { file_name, bytes })
        };
        self.names("npm")?.into_iter().map(package).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_another_content_is_found() {
        let folder = std::env::temp_dir().join(format!("xtask-dist-{}", std::process::id()));
        fs::create_dir_all(folder.join("npm")).unwrap();
        fs::write(folder.join("npm/a.tgz"), "content").unwrap();
        let sum = |content: &str| format!("{}  npm/a.tgz\n", sha256_hex(content.as_bytes()));
        fs::write(folder.join("SHA256SUMS"), sum("content")).unwrap();
        assert_eq!(Dist::open(&folder).unwrap().npm().unwrap()[0].file_name, "a.tgz");
        fs::write(folder.join("SHA256SUMS"), sum("other")).unwrap();
        assert!(Dist::open(&folder).unwrap_err().contains("npm/a.tgz"));
        fs::remove_dir_all(folder).unwrap();
    }
}
