//! The wheel: the Python package, and the binary as a script, as other tools written in Rust ship.

use std::fs;

use crate::Result;
use crate::archive::digest::sha256;
use crate::archive::zip::Zip;
use crate::package::binary::Binary;
use crate::package::sources;
use crate::package::version::Version;
use crate::workspace::Workspace;

const ENTRY_POINTS: &str = "[pytest11]\ntablerock = tablerock.pytest_plugin\n";

/// The file name, whose last part is the platform.
pub(crate) fn file_name(version: &Version, binary: &Binary) -> String {
    format!("tablerock-{}-py3-none-{}.whl", version.number, platform(binary))
}

/// Makes the wheel.
pub(crate) fn make(workspace: &Workspace, version: &Version, binary: &Binary) -> Result<Vec<u8>> {
    let folder = workspace.root.join("packaging/python");
    let readme = folder.join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let number = &version.number;
    let info = format!("tablerock-{number}.dist-info");
    let script = format!("tablerock-{number}.data/scripts/tablerock{}", std::env::consts::EXE_SUFFIX);
    let mut files = Vec::new();
    for (name, bytes) in sources::read(&folder.join("tablerock"))? {
        files.push((format!("tablerock/{name}"), bytes, 0o644));
    }
    files.push((script, binary.bytes.clone(), 0o755));
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let bytes = fs::read(workspace.root.join(name)).map_err(|error| format!("{name}: {error}"))?;
        files.push((format!("{info}/licenses/{name}"), bytes, 0o644));
    }
    files.push((format!("{info}/METADATA"), metadata(number, &readme).into_bytes(), 0o644));
    files.push((format!("{info}/WHEEL"), wheel(&platform(binary)).into_bytes(), 0o644));
    files.push((format!("{info}/entry_points.txt"), ENTRY_POINTS.into(), 0o644));
    let mut zip = Zip::default();
    let mut record = String::new();
    for (name, bytes, mode) in &files {
        zip.file(name, bytes, *mode)?;
        record += &format!("{name},sha256={},{}\n", base64_url(&sha256(bytes)), bytes.len());
    }
    record += &format!("{info}/RECORD,,\n");
    zip.file(&format!("{info}/RECORD"), record.as_bytes(), 0o644)?;
    Ok(zip.finish())
}

fn metadata(number: &str, readme: &str) -> String {
    format!(
        "Metadata-Version: 2.4\nName: tablerock\nVersion: {number}\n\
         Summary: Azure Table, Queue and Blob Storage in one binary, with a pytest fixture\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Keywords: azure,storage,table,queue,blob,azurite,pytest\n\
         Classifier: Framework :: Pytest\nClassifier: Topic :: Software Development :: Testing\n\
         Requires-Python: >=3.10\nDescription-Content-Type: text/markdown\n\n{readme}"
    )
}

fn wheel(platform: &str) -> String {
    // A compressed tag stands for each of its parts.
    let tags: String = platform.split('.').map(|part| format!("Tag: py3-none-{part}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n{tags}")
}

/// The platform tag. A binary that loads the GNU C library needs that version or a newer one; a static one runs everywhere.
fn platform(binary: &Binary) -> String {
    let arch = std::env::consts::ARCH;
    match (std::env::consts::OS, binary.glibc()) {
        ("linux", Some((major, minor))) => format!("manylinux_{major}_{minor}_{arch}"),
        ("linux", None) => format!("manylinux_2_17_{arch}.musllinux_1_1_{arch}"),
        ("macos", _) => format!("macosx_11_0_{}", if arch == "aarch64" { "arm64" } else { arch }),
        ("windows", _) => if arch == "aarch64" { "win_arm64" } else { "win_amd64" }.to_owned(),
        (other, _) => format!("{other}_{arch}"),
    }
}

/// Base64 for URLs, without padding, as RECORD has digests.
fn base64_url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().chain(&[0, 0]).take(3).fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let digits = [18, 12, 6, 0].map(|shift| char::from(DIGITS[(group >> shift & 63) as usize]));
        text.extend(&digits[..=chunk.len()]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_as_in_the_specification() {
        assert_eq!(base64_url(b""), "");
        assert_eq!(base64_url(&[0xfb, 0xff]), "-_8");
        assert_eq!(base64_url(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64_url(b"fooba"), "Zm9vYmE");
    }

    #[test]
    fn a_compressed_tag_is_listed_by_its_parts() {
        assert!(
            wheel("manylinux_2_17_x86_64.musllinux_1_1_x86_64")
                .ends_with("Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n")
        );
    }
}
