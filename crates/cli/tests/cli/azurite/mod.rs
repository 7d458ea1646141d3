//! The binary under Azurite's names: what it prints, which flags it takes, and what test harnesses wait for.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod flags;
mod harnesses;
mod single_service;

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_tablerock");

/// The variables that let the system choose ports where a command line does not name them.
const ANY_PORTS: [(&str, &str); 3] =
    [("TABLEROCK_BLOB_PORT", "0"), ("TABLEROCK_QUEUE_PORT", "0"), ("TABLEROCK_TABLE_PORT", "0")];

/// A test that waits this long has failed. No test depends on how long something takes.
const HANGS: Duration = Duration::from_secs(120);

/// A folder with the binary under Azurite's names. It is the working directory, where Azurite keeps data by default.
pub(crate) struct Links {
    folder: TempDir,
}

impl Links {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["azurite", "azurite-blob", "azurite-queue", "azurite-table", "tablerock"] {
            #[cfg(unix)]
            std::os::unix::fs::symlink(BINARY, folder.path().join(name)).unwrap();
            #[cfg(windows)]
            std::fs::copy(BINARY, folder.path().join(name).with_extension("exe")).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command line whose first word is one of the names.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut words = line.split_whitespace();
        let mut command = Command::new(self.path().join(words.next().unwrap()));
        command.env_clear().envs(ANY_PORTS).current_dir(self.path()).args(words);
        command
    }
}

/// A line of a running program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    Stdout(String),
    Stderr(String),
}

impl Line {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Stdout(text) | Self::Stderr(text) => text,
        }
    }
}

/// A running program whose lines are read. It is killed when dropped.
pub(crate) struct Running {
    process: Child,
    incoming: Receiver<Line>,
    seen: VecDeque<Line>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let (sender, incoming) = channel();
        forward(process.stdout.take().unwrap(), sender.clone(), Line::Stdout);
        forward(process.stderr.take().unwrap(), sender, Line::Stderr);
        Self { process, incoming, seen: VecDeque::new() }
    }

    /// Waits for a line, among those that were printed already and those to come.
    pub(crate) fn wait_for(&mut self, wanted: impl Fn(&Line) -> bool) -> Line {
        loop {
            if let Some(line) = self.seen.iter().find(|line| wanted(line)) {
                return line.clone();
            }
            match self.incoming.recv_timeout(HANGS) {
                Ok(line) => self.seen.push_back(line),
                Err(_) => panic!("the program does not print what is waited for: {:#?}", self.seen),
            }
        }
    }

    /// Waits for a line on stdout that contains a text.
    pub(crate) fn wait_for_stdout(&mut self, text: &str) -> String {
        self.wait_for(|line| matches!(line, Line::Stdout(line) if line.contains(text))).text().to_owned()
    }

    /// Waits for a line on stderr that contains a text.
    pub(crate) fn wait_for_stderr(&mut self, text: &str) -> String {
        self.wait_for(|line| matches!(line, Line::Stderr(line) if line.contains(text))).text().to_owned()
    }

    /// Waits until a text was on stderr this many times.
    pub(crate) fn wait_for_round(&mut self, text: &str, times: usize) {
        while self.seen.iter().filter(|line| matches!(line, Line::Stderr(line) if line.contains(text))).count() < times
        {
            self.seen.push_back(self.incoming.recv_timeout(HANGS).expect("the program prints it"));
        }
    }

    /// The address that a service is bound to, as the program prints it, for a client on this machine.
    pub(crate) fn address(&mut self, service: &str) -> String {
        let line = self.wait_for(|line| {
            line.text().contains(&format!("{service} service ")) && line.text().contains("successfully")
        });
        let address = line.text().rsplit([' ', '/']).next().unwrap();
        address.replace("0.0.0.0", "127.0.0.1")
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    }

    /// Waits for the end. Returns what it printed to stdout and to stderr.
    pub(crate) fn finish(mut self) -> (ExitStatus, Vec<String>, Vec<String>) {
        let status = self.process.wait().expect("the process ends");
        self.seen.extend(self.incoming.iter());
        let (stdout, stderr): (Vec<Line>, Vec<Line>) =
            self.seen.drain(..).partition(|line| matches!(line, Line::Stdout(_)));
        let texts = |lines: Vec<Line>| lines.iter().map(|line| line.text().to_owned()).collect();
        (status, texts(stdout), texts(stderr))
    }

    /// Stops it as a supervisor does.
    pub(crate) fn stop(self) -> (Vec<String>, Vec<String>) {
        self.signal("-TERM");
        let (status, stdout, stderr) = self.finish();
        assert_eq!(status.code(), Some(0), "{stderr:#?}");
        (stdout, stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn forward(from: impl Read + Send + 'static, to: Sender<Line>, wrap: fn(String) -> Line) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if to.send(wrap(line)).is_err() {
                return;
            }
        }
    });
}

/// The PKCS#12 file with the password `geheim!`.
fn pfx() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/pfx/openssl1.pfx").to_owned()
}

/// Writes a certificate and its key as `cert.pem` and `key.pem`, the key for its owner alone.
pub(crate) fn write_certificate(folder: &Path) -> rcgen::CertifiedKey<rcgen::KeyPair> {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), signed.cert.pem()).unwrap();
    let key = folder.join("key.pem");
    std::fs::write(&key, signed.signing_key.serialize_pem()).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    signed
}
