//! The files of the image, in two layers: what rarely changes, and the server.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::archive::file_tree::FileTree;
use crate::package::binary::Binary;
use crate::package::busybox;
use crate::workspace::Workspace;

/// The names under which the binary is Azurite.
pub(crate) const AZURITE_NAMES: [&str; 4] = ["azurite", "azurite-blob", "azurite-queue", "azurite-table"];

/// The shell, small and with the words of POSIX. Busybox's prefers its own tools to those of the `PATH`.
const SHELL: &str = "/bin/dash";

/// The certificates that `tablerock copy` and TLS to a database trust.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

const PASSWD: &str = "root:x:0:0:root:/tmp:/bin/sh\nnonroot:x:65532:65532:nonroot:/data:/bin/sh\n";
const GROUP: &str = "root:x:0:\nnonroot:x:65532:\n";

/// Any user may write, so that `--user` works with a volume that the engine creates.
const SHARED: u32 = 0o1777;

/// Busybox, a shell, libraries, certificates, and the folders that programs expect.
pub(super) fn base(workspace: &Workspace, busybox: &[u8], libraries: &[PathBuf]) -> Result<FileTree> {
    let mut tree = FileTree::default();
    tree.program("bin/busybox", busybox);
    for name in busybox::LINKS {
        tree.link(&format!("bin/{name}"), "busybox");
    }
    let nc = "packaging/image/nc";
    let shell = Binary::of(Path::new(SHELL)).map_err(|why| format!("{why}; install Debian's package dash"))?;
    tree.program("bin/sh", shell.bytes);
    tree.program("bin/nc", fs::read(workspace.root.join(nc)).map_err(|error| format!("{nc}: {error}"))?);
    for library in libraries.iter().chain(&shell.libraries) {
        let bytes = fs::read(library).map_err(|error| format!("{}: {error}", library.display()))?;
        tree.program(library.to_string_lossy().trim_start_matches('/'), bytes);
    }
    let certificates = fs::read(CERTIFICATES)
        .map_err(|error| format!("{CERTIFICATES}: {error}; install Debian's package ca-certificates"))?;
    tree.file(CERTIFICATES.trim_start_matches('/'), certificates);
    tree.file("etc/passwd", PASSWD);
    tree.file("etc/group", GROUP);
    for folder in ["dev", "proc", "run", "sys"] {
        tree.folder(folder, 0o755);
    }
    for folder in ["tmp", "data"] {
        tree.folder(folder, SHARED);
    }
    Ok(tree)
}

/// The binary with its other names, and its licences.
pub(super) fn server(workspace: &Workspace, binary: &[u8]) -> Result<FileTree> {
    let mut tree = FileTree::default();
    tree.program("usr/local/bin/tablerock", binary);
    for name in AZURITE_NAMES {
        tree.link(&format!("usr/local/bin/{name}"), "tablerock");
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let path: &Path = &workspace.root.join(name);
        let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        tree.file(&format!("usr/share/doc/tablerock/{name}"), bytes);
    }
    Ok(tree)
}
