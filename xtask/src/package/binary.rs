//! The binary that packages contain, with the libraries that it loads. A static one loads none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::checks;
use crate::workspace::Workspace;

/// A binary and its shared libraries.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Absolute paths, as the binary or its loader look them up.
    pub(crate) libraries: Vec<PathBuf>,
}

impl Binary {
    /// Builds the server as shipped: with musl, which makes it static, where the toolchain has that target; otherwise for
    /// the host.
    pub(crate) fn build(workspace: &Workspace) -> Result<Self> {
        let Some(target) = musl_target() else {
            let built = checks::build_server(workspace);
            let path = workspace.binary("release", "tablerock");
            return if built.failed == 0 { Self::of(&path) } else { Err("the server does not build".to_owned()) };
        };
        let built = checks::build_server_for(workspace, &target);
        let path = workspace.target.join(&target).join("release/tablerock");
        if built.failed == 0 { Self::of(&path) } else { Err(format!("the server does not build for {target}")) }
    }

    /// A binary that is built already.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}; build it first", path.display()))?;
        // Tests run it from folders of their own.
        let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { libraries: libraries(&path)?, path, bytes })
    }

    /// The newest version of the GNU C library that the binary needs: `2.34`; `None` if it needs none.
    pub(crate) fn glibc(&self) -> Option<(u32, u32)> {
        const PREFIX: &[u8] = b"GLIBC_2.";
        let found = self.bytes.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
        let minors = found.filter_map(|(at, _)| {
            let digits = self.bytes[at + PREFIX.len()..].iter().take_while(|byte| byte.is_ascii_digit());
            digits.map(|digit| char::from(*digit)).collect::<String>().parse().ok()
        });
        minors.max().filter(|_| !self.libraries.is_empty()).map(|minor| (2, minor))
    }
}

/// The name of a musl target for this machine, if the toolchain and a C compiler for it are installed.
fn musl_target() -> Option<String> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output().ok()?;
    let has_target = String::from_utf8_lossy(&installed.stdout).lines().any(|line| line == target);
    let has_compiler = Command::new("musl-gcc").arg("--version").output().is_ok_and(|output| output.status.success());
    (has_target && has_compiler).then_some(target)
}

/// The libraries of other systems are part of them, and no package brings them.
fn libraries(path: &Path) -> Result<Vec<PathBuf>> {
    if !cfg!(target_os = "linux") {
        return Ok(Vec::new());
    }
    let output = Command::new("ldd").arg(path).output().map_err(|error| format!("ldd: {error}"))?;
    // It fails for a static binary, and says so.
    Ok(if output.status.success() { parse_ldd(&String::from_utf8_lossy(&output.stdout))? } else { Vec::new() })
}

/// Reads lines such as `libc.so.6 => /lib/libc.so.6 (0x7f…)` and `/lib64/ld-linux-x86-64.so.2 (0x7f…)`.
fn parse_ldd(output: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for line in output.lines().map(str::trim) {
        let (name, target) = line.split_once(" => ").unwrap_or(("", line));
        if target.starts_with("not found") {
            return Err(format!("the library {name} is missing"));
        }
        let path = target.split(" (").next().unwrap_or_default();
        if path.starts_with('/') {
            found.push(PathBuf::from(path));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_the_loader_are_found() {
        let output = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let expected = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(parse_ldd(output).unwrap(), expected);
        assert_eq!(parse_ldd("\tstatically linked\n").unwrap(), [""; 0].map(PathBuf::from));
        assert!(parse_ldd("\tlibx.so => not found\n").unwrap_err().contains("libx.so"));
    }
}
