//! The Debian package: the binary under all of its names, the systemd unit, the settings file and documents.

use std::fs;

use crate::Result;
use crate::archive::file_tree::FileTree;
use crate::archive::{ar, gzip};
use crate::package::binary::Binary;
use crate::package::image::{AZURITE_NAMES, architecture};
use crate::package::version::Version;
use crate::workspace::Workspace;

/// The settings file, which keeps the changes of the administrator.
const SETTINGS: &str = "etc/tablerock/tablerock.toml";

/// The unit of the service.
pub(crate) const UNIT: &str = "usr/lib/systemd/system/tablerock.service";

/// The file name of the package.
pub(crate) fn file_name(version: &Version) -> String {
    format!("tablerock_{}_{}.deb", version.number, architecture())
}

/// Makes the package.
pub(crate) fn make(workspace: &Workspace, version: &Version, binary: &Binary) -> Result<Vec<u8>> {
    let read = |path: &str| fs::read(workspace.root.join(path)).map_err(|error| format!("{path}: {error}"));
    let mut data = FileTree::default();
    data.program("usr/bin/tablerock", binary.bytes.clone());
    for name in AZURITE_NAMES {
        data.link(&format!("usr/bin/{name}"), "tablerock");
    }
    data.file(UNIT, read("packaging/systemd/tablerock.service")?);
    // It may get keys.
    data.private_file(SETTINGS, read("packaging/debian/tablerock.toml")?);
    for (name, source) in [
        ("copyright", "LICENSE"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("README.md", "README.md"),
        ("changelog.md", "CHANGELOG.md"),
        ("operating.md", "docs/operating.md"),
    ] {
        data.file(&format!("usr/share/doc/tablerock/{name}"), read(source)?);
    }
    let template = String::from_utf8(read("packaging/debian/control")?).map_err(|error| error.to_string())?;
    let mut control = FileTree::default();
    control.file("control", control_file(&template, version, data.size(), binary.glibc()));
    control.file("conffiles", format!("/{SETTINGS}\n"));
    for script in ["postinst", "prerm"] {
        control.program(script, read(&format!("packaging/debian/{script}"))?);
    }
    let control = gzip::compress(&control.to_tar("./", version.time)?);
    let data = gzip::compress(&data.to_tar("./", version.time)?);
    let members = [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    Ok(ar::write(&members, version.time))
}

fn control_file(template: &str, version: &Version, bytes: usize, glibc: Option<(u32, u32)>) -> String {
    let depends = glibc.map(|(major, minor)| format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\n"));
    template
        .replace("{version}", &version.number)
        .replace("{architecture}", architecture())
        .replace("{size}", &bytes.div_ceil(1024).to_string())
        .replace("{depends}", &depends.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_binary_depends_on_nothing() {
        let version = Version { number: "1.2.3".to_owned(), commit: None, time: 0 };
        let template = "Version: {version}\nInstalled-Size: {size}\n{depends}Section: x\n";
        let control = control_file(template, &version, 2049, Some((2, 34)));
        let expected = "Version: 1.2.3\nInstalled-Size: 3\nDepends: libc6 (>= 2.34), libgcc-s1\nSection: x\n";
        assert_eq!(control, expected);
        assert_eq!(control_file(template, &version, 1, None), "Version: 1.2.3\nInstalled-Size: 1\nSection: x\n");
    }
}
