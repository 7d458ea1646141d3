//! Which programs were compared.

use std::fs;
use std::path::Path;
use std::process::Command;

const LOCK: &str = include_str!("../../../Cargo.lock");
/// Changes of it do not change what was measured.
const BUT_FOR_THE_REPORT: [&str; 2] = [".", ":!docs/benchmarks.md"];

/// A line such as `Tablerock 0.1.0 (commit 1a2b3c4), Azurite 3.37.0 on Node.js v20.20.2, …`.
pub fn all(azurite: Option<&Path>) -> String {
    let mut named = vec![format!("Tablerock {}{}", env!("CARGO_PKG_VERSION"), commit().unwrap_or_default())];
    if let Some(version) = azurite.and_then(azurite_version) {
        let node = said("node", &["--version"]).unwrap_or_default();
        named.push(format!("Azurite {version} on Node.js {node}"));
    }
    for package in ["hyper", "fjall"] {
        named.extend(locked(LOCK, package).map(|version| format!("{package} {version}")));
    }
    named.extend(said("rustc", &["--version"]));
    named.join(", ")
}

fn commit() -> Option<String> {
    let commit = said("git", &["rev-parse", "--short", "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changes = said("git", &[&status[..], &BUT_FOR_THE_REPORT].concat())?;
    Some(format!(" (commit {commit}{})", if changes.is_empty() { "" } else { " and changes since" }))
}

fn azurite_version(package: &Path) -> Option<String> {
    let manifest = fs::read_to_string(package.join("package.json")).ok()?;
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("\"version\": \""))?;
    Some(line.trim_end_matches(['"', ',']).to_owned())
}

/// The version of a package in a lock file.
fn locked(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    Some(lines.nth(1)?.strip_prefix("version = \"")?.trim_end_matches('"').to_owned())
}

fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"fjall-more\"\nversion = \"9.9.9\"\n\n[[package]]\nname = \"fjall\"\nversion = \"3.1.13\"\n";
        assert_eq!(locked(lock, "fjall").as_deref(), Some("3.1.13"));
        assert_eq!(locked(lock, "redb"), None);
        assert!(locked(LOCK, "hyper").is_some());
    }
}
