//! `cargo xtask release`: everything of a version in `dist/`, ready to upload. Nothing is uploaded here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::archive::digest::sha256_hex;
use crate::archive::file_tree::FileTree;
use crate::archive::gzip;
use crate::package::binary::Binary;
use crate::package::image::{self, AZURITE_NAMES, Image, megabytes};
use crate::package::version::Version;
use crate::package::{changelog, crates, deb, npm, sbom, wheel};
use crate::workspace::Workspace;

/// The options of `cargo xtask release`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseOptions {
    /// The folder, which is emptied first [default: dist]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The binary to package, instead of building one
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Also build each crate from its package, as cargo does before it publishes
    #[arg(long)]
    verify: bool,
}

/// Files that are used as they are.
const FILES: [(&str, &str); 5] = [
    ("compose.yaml", "packaging/compose.yaml"),
    ("kubernetes/one-server.yaml", "packaging/kubernetes/one-server.yaml"),
    ("kubernetes/many-servers.yaml", "packaging/kubernetes/many-servers.yaml"),
    ("tablerocktest.go", "packaging/go/tablerocktest.go"),
    ("TablerockExtension.java", "packaging/java/TablerockExtension.java"),
];

/// Makes everything for this platform.
pub(crate) fn run(workspace: &Workspace, options: &ReleaseOptions) -> Result<()> {
    let version = Version::of(workspace)?;
    let folder = options.out.clone().unwrap_or_else(|| workspace.root.join("dist"));
    let mut dist = Dist::create(&folder)?;
    let binary = match &options.binary {
        Some(path) => Binary::of(path)?,
        None => Binary::build(workspace)?,
    };
    write_all(workspace, &version, &binary, options.verify, &mut dist)?;
    dist.write_checksums()?;
    println!("{}: {} files of version {}", workspace.shown(&folder), dist.written.len(), version.number);
    Ok(())
}

fn write_all(
    workspace: &Workspace,
    version: &Version,
    binary: &Binary,
    is_verified: bool,
    dist: &mut Dist,
) -> Result<()> {
    dist.write("CHANGELOG.md", changelog::section(workspace, &version.number)?.as_bytes())?;
    dist.write(&format!("tablerock-{}.cdx.json", version.number), sbom::make(workspace, version)?.as_bytes())?;
    dist.write(&format!("{}.tar.gz", archive_name(version)), &archive(workspace, version, binary)?)?;
    dist.write(&wheel::file_name(version, binary), &wheel::make(workspace, version, binary)?)?;
    for package in npm::make(workspace, version, binary)? {
        dist.write(&format!("npm/{}", package.file_name), &package.bytes)?;
    }
    for (name, source) in FILES {
        let bytes = fs::read(workspace.root.join(source)).map_err(|error| format!("{source}: {error}"))?;
        dist.write(name, &bytes)?;
    }
    if cfg!(target_os = "linux") {
        dist.write(&deb::file_name(version), &deb::make(workspace, version, binary)?)?;
        dist.write(&image::file_name(version), &Image::of(workspace, version, binary)?.to_tar()?)?;
    }
    // Numbered, because the registry takes a crate only after those that it depends on.
    for (path, position) in crates::package(workspace, &version.number, is_verified)?.iter().zip(1..) {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        dist.write(&format!("crates/{position:02}-{name}"), &bytes)?;
    }
    Ok(())
}

pub(super) fn archive_name(version: &Version) -> String {
    format!("tablerock-{}-{}-{}", version.number, std::env::consts::OS, std::env::consts::ARCH)
}

/// The binary under all of its names, with the licences and the first documents.
fn archive(workspace: &Workspace, version: &Version, binary: &Binary) -> Result<Vec<u8>> {
    let name = archive_name(version);
    let mut tree = FileTree::default();
    let program = format!("tablerock{}", std::env::consts::EXE_SUFFIX);
    tree.program(&format!("{name}/{program}"), binary.bytes.clone());
    if !cfg!(windows) {
        AZURITE_NAMES.iter().for_each(|link| tree.link(&format!("{name}/{link}"), &program));
    }
    for file in ["CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "packaging/compose.yaml"] {
        let bytes = fs::read(workspace.root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        tree.file(&format!("{name}/{}", file.rsplit('/').next().unwrap_or(file)), bytes);
    }
    Ok(gzip::compress(&tree.to_tar("", version.time)?))
}

/// The folder of a release.
struct Dist {
    folder: PathBuf,
    /// Names and digests, in the order of writing.
    written: Vec<(String, String)>,
}

impl Dist {
    fn create(folder: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        fs::create_dir_all(folder).map_err(failed)?;
        Ok(Self { folder: folder.to_owned(), written: Vec::new() })
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("  {name}: {:.1} MB", megabytes(bytes.len()));
        self.written.push((name.to_owned(), sha256_hex(bytes)));
        Ok(())
    }

    /// Writes the list that `sha256sum --check` reads.
    fn write_checksums(&mut self) -> Result<()> {
        self.written.sort();
        let list: String = self.written.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
        let path = self.folder.join("SHA256SUMS");
        fs::write(&path, list).map_err(|error| format!("{}: {error}", path.display()))
    }
}
