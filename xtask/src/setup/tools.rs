//! The languages that the suites are written in: whether this machine has them, and new enough.

use std::process::Command;

pub(crate) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
pub(crate) const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
pub(crate) const MVN: &str = if cfg!(windows) { "mvn.cmd" } else { "mvn" };

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    Python,
    Node,
    /// Node.js, which brings AzCopy, and a library that this build of AzCopy loads.
    NodeWithSecrets,
    Go,
    Java,
}

/// A command that prints a version, and the least that is enough; `(0, 0)` accepts any.
struct Probe {
    program: &'static str,
    arguments: &'static [&'static str],
    least: (u32, u32),
}

impl Tool {
    /// The remedy if it is missing.
    fn hint(self) -> &'static str {
        match self {
            Tool::Python => "install Python 3.11 or newer with its venv module",
            Tool::Node => "install Node.js 20 or newer with npm",
            Tool::NodeWithSecrets => "install Node.js 20 or newer with npm, Python and libsecret-1.so.0",
            Tool::Go => "install Go 1.23 or newer",
            Tool::Java => "install a JDK of version 17 or newer, and Maven",
        }
    }

    /// The packages that bring it on Debian.
    pub(crate) fn debian_packages(self) -> &'static [&'static str] {
        match self {
            Tool::Python => &["python3", "python3-venv"],
            Tool::Node => &["nodejs", "npm"],
            Tool::NodeWithSecrets => &["nodejs", "npm", "python3", "libsecret-1-0"],
            Tool::Go => &["golang-go"],
            Tool::Java => &["default-jdk-headless", "maven"],
        }
    }

    fn probes(self) -> &'static [Probe] {
        match self {
            Tool::Python => &[
                Probe { program: PYTHON, arguments: &["--version"], least: (3, 11) },
                // Debian ships Python without what makes a virtual environment.
                Probe { program: PYTHON, arguments: &["-c", "import ensurepip, venv"], least: (0, 0) },
            ],
            Tool::Node => &[
                Probe { program: "node", arguments: &["--version"], least: (20, 0) },
                Probe { program: NPM, arguments: &["--version"], least: (0, 0) },
            ],
            Tool::NodeWithSecrets => &[
                Probe { program: "node", arguments: &["--version"], least: (20, 0) },
                Probe { program: NPM, arguments: &["--version"], least: (0, 0) },
                Probe {
                    program: PYTHON,
                    arguments: &["-c", "import ctypes; ctypes.CDLL('libsecret-1.so.0')"],
                    least: (0, 0),
                },
            ],
            Tool::Go => &[Probe { program: "go", arguments: &["version"], least: (1, 23) }],
            Tool::Java => &[
                Probe { program: "javac", arguments: &["-version"], least: (17, 0) },
                Probe { program: MVN, arguments: &["--version"], least: (3, 6) },
            ],
        }
    }

    /// The version that it prints, or the reason why it is not enough.
    pub(crate) fn version(self) -> Result<String, String> {
        let versions: Result<Vec<String>, String> = self.probes().iter().map(Probe::ask).collect();
        versions.map(|lines| lines.concat()).map_err(|why| format!("{why}; {}", self.hint()))
    }
}

impl Probe {
    fn ask(&self) -> Result<String, String> {
        let asked = Command::new(self.program).args(self.arguments).output();
        let output = asked.map_err(|_| format!("no `{}` on PATH", self.program))?;
        if !output.status.success() {
            return Err(format!("`{} {}` fails", self.program, self.arguments.join(" ")));
        }
        let printed = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&printed).into_owned();
        if self.least > (0, 0) && version_in(&text).is_none_or(|found| found < self.least) {
            let line = text.lines().next().unwrap_or_default().trim();
            return Err(format!("`{}` is too old ({line})", self.program));
        }
        Ok(text)
    }
}

/// The first `major.minor` in a text such as `go version go1.26.8 linux/amd64` or `v20.20.2`.
fn version_in(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
        let mut numbers = word.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        assert_eq!(version_in("go version go1.26.8 linux/amd64"), Some((1, 26)));
        assert_eq!(version_in("v20.20.2\n"), Some((20, 20)));
        assert_eq!(version_in("\u{1b}[1mApache Maven 3.8.7\u{1b}[m\n"), Some((3, 8)));
        assert_eq!(version_in("javac 17.0.15"), Some((17, 0)));
        assert_eq!(version_in("no number"), None);
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let probe = Probe { program: "no-such-program", arguments: &[], least: (0, 0) };
        assert_eq!(probe.ask().unwrap_err(), "no `no-such-program` on PATH");
    }

    #[test]
    fn a_program_that_is_too_old_is_refused() {
        let probe = Probe { program: "cargo", arguments: &["--version"], least: (999, 0) };
        assert!(probe.ask().unwrap_err().starts_with("`cargo` is too old (cargo "));
    }
}
