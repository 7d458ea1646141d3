//! No file names a package registry: every machine has its own settings for that.

use super::Finding;
use super::tree::{File, Tree};

/// Hosts of public registries, in two parts so that this file has no finding.
const HOSTS: [(&str, &str); 9] = [
    ("registry.", "npmjs.org"),
    ("registry.", "yarnpkg.com"),
    ("pypi.", "org/simple"),
    ("files.", "pythonhosted.org"),
    ("proxy.", "golang.org"),
    ("repo1.", "maven.org"),
    ("repo.", "maven.apache.org"),
    ("static.", "crates.io"),
    ("deb.", "debian.org"),
];

/// Settings that name a registry, by the file they stand in.
const SETTINGS: [(&str, &[&str]); 6] = [
    ("package-lock.json", &["\"resolved\": \"http"]),
    (".npmrc", &["registry"]),
    ("requirements.txt", &["-i ", "--index-url", "--extra-index-url", "--find-links"]),
    ("pom.xml", &["<repository>", "<pluginRepository>"]),
    ("Cargo.lock", &["source = \"registry+", "source = \"sparse+"]),
    (".cargo/config.toml", &["[registries", "[registry", "[source", "replace-with"]),
];

/// The index that every `Cargo.lock` names, whatever the source of the packages.
const CRATES_INDEX: &str = "github.com/rust-lang/crates.io-index";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let is_setting = SETTINGS.iter().filter(|(name, _)| file.path.ends_with(name)).flat_map(|(_, settings)| *settings);
    let settings: Vec<&str> = is_setting.copied().collect();
    let names_registry = |line: &str| {
        HOSTS.iter().any(|(head, tail)| line.contains(&[*head, *tail].concat()))
            || (settings.iter().any(|setting| line.trim_start().starts_with(setting)) && !line.contains(CRATES_INDEX))
    };
    let lines = file.text.lines().enumerate().filter(|(_, line)| names_registry(line));
    lines.map(|(index, _)| Finding::new(&file.path, index + 1, "names a package registry")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(path: &str, text: &str) -> bool {
        !check(&Tree::of(&[(path, text)])).is_empty()
    }

    #[test]
    fn a_host_is_found_in_any_file() {
        for (head, tail) in HOSTS {
            assert!(is_found("docs/a.md", &format!("from https://{head}{tail}/x")), "{tail}");
        }
    }

    #[test]
    fn a_setting_is_found_in_its_file() {
        assert!(is_found("sdk/js/package-lock.json", "      \"resolved\": \"https://mirror.invalid/a.tgz\","));
        assert!(is_found("sdk/python/requirements.txt", "--index-url https://mirror.invalid/"));
        assert!(is_found("Cargo.lock", "source = \"registry+https://mirror.invalid/index\""));
        assert!(!is_found("Cargo.lock", &format!("source = \"registry+https://{CRATES_INDEX}\"")));
        assert!(!is_found("sdk/python/requirements.txt", "pytest==9.2.0"));
    }
}
