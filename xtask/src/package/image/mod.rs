//! The container image, made without a container engine: `root.rs` has its files, `oci.rs` its format.

mod oci;
mod root;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use self::root::AZURITE_NAMES;

use crate::Result;
use crate::archive::file_tree::FileTree;
use crate::package::binary::Binary;
use crate::package::busybox;
use crate::package::version::Version;
use crate::workspace::Workspace;

/// The bound on the unpacked image. Azurite's is above 300 MB.
const BYTES_MAX: usize = 25 * 1024 * 1024;

/// An image: an OCI layout, which is also what `docker load` reads once it is a tar.
#[derive(Debug)]
pub(crate) struct Image {
    layout: FileTree,
    /// The bytes of all files, unpacked.
    pub(crate) unpacked: usize,
    time: u64,
}

impl Image {
    /// Makes the image of a binary.
    pub(crate) fn of(workspace: &Workspace, version: &Version, binary: &Binary) -> Result<Self> {
        let base = root::base(workspace, &busybox::find(workspace)?, &binary.libraries)?;
        let server = root::server(workspace, &binary.bytes)?;
        let unpacked = base.size() + server.size();
        if unpacked > BYTES_MAX {
            return Err(format!("the image has {unpacked} bytes unpacked, and may have {BYTES_MAX}"));
        }
        let layout = oci::layout(version, &[base, server])?;
        Ok(Self { layout, unpacked, time: version.time })
    }

    /// The tar for `docker load`, `podman load` and `skopeo copy oci-archive:…`.
    pub(crate) fn to_tar(&self) -> Result<Vec<u8>> {
        self.layout.to_tar("", self.time)
    }

    /// Writes the layout into a folder, which is emptied first.
    pub(crate) fn write_layout(&self, folder: &Path) -> Result<()> {
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| failed(folder, error))?;
        }
        for (name, bytes) in self.layout.files() {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
            fs::write(&path, bytes).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}

/// The name of the architecture in images and Debian packages.
pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The file name of the tar.
pub(crate) fn file_name(version: &Version) -> String {
    format!("tablerock-{}-image-{}.tar", version.number, architecture())
}

/// `cargo xtask image`: writes the layout and the tar below `target/packages`.
pub(crate) fn run(workspace: &Workspace, binary: Option<&Path>) -> Result<()> {
    let version = Version::of(workspace)?;
    let binary = match binary {
        Some(path) => Binary::of(path)?,
        None => Binary::build(workspace)?,
    };
    let image = Image::of(workspace, &version, &binary)?;
    let folder = workspace.target.join("packages");
    image.write_layout(&folder.join("image"))?;
    let tar = image.to_tar()?;
    let path: PathBuf = folder.join(file_name(&version));
    fs::write(&path, &tar).map_err(|error| format!("{}: {error}", path.display()))?;
    println!(
        "{}: {:.1} MB, {:.1} MB unpacked, {} libraries; docker load --input {}",
        workspace.shown(&path),
        megabytes(tar.len()),
        megabytes(image.unpacked),
        binary.libraries.len(),
        workspace.shown(&path)
    );
    println!("{}: the same image as an OCI layout", workspace.shown(&folder.join("image")));
    Ok(())
}

pub(crate) fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
