//! The file of `--admin-file`: the addresses of a server that is ready, and the token that requests which change it need. Only
//! its owner can read it.
//!
//! A web page can send a POST to loopback, and the admin port may have moved, so programs that change a server find both here.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use tablerock_server::AdminToken;

use crate::ports::BoundAddresses;
use crate::private_file;
use crate::settings::Settings;

/// The content of the file, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AdminFile {
    /// The admin address.
    pub(crate) admin: SocketAddr,
    /// For the header `Authorization: Bearer TOKEN`.
    pub(crate) token: String,
    /// The URLs of the services that are served, without an account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queue: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) table: Option<String>,
    /// The process id of the server.
    pub(crate) pid: u32,
}

/// The file of a server that is starting. It is written when the server is ready.
#[derive(Debug)]
pub(crate) struct PendingAdminFile {
    path: PathBuf,
    pub(crate) token: AdminToken,
}

impl PendingAdminFile {
    /// Creates the token, if the settings ask for the file.
    pub(crate) fn of(settings: &Settings) -> Result<Option<Self>, String> {
        let Some(path) = settings.admin_file.clone() else { return Ok(None) };
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| format!("the system has no random numbers: {error}"))?;
        Ok(Some(Self { path, token: AdminToken::new(&random) }))
    }

    /// Writes the addresses as bound.
    pub(crate) fn write(
        &self,
        settings: &Settings,
        bound: &BoundAddresses,
    ) -> Result<Option<WrittenAdminFile>, String> {
        let Some(admin) = bound.admin else { return Ok(None) };
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        let url = |wanted: &str| {
            let found = bound.services().into_iter().find(|(service, _)| *service == wanted);
            found.map(|(_, address)| format!("{scheme}://{address}"))
        };
        let token = self.token.as_str().to_owned();
        let (blob, queue, table) = (url("Blob"), url("Queue"), url("Table"));
        let file = AdminFile { admin, token, blob, queue, table, pid: std::process::id() };
        file.write(&self.path).map(Some)
    }
}

impl AdminFile {
    /// Reads the file of a running server.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            format!("cannot read {shown}: {error}; a server writes it with --admin-file when it is ready")
        })?;
        // The text is not shown: it has the token.
        serde_json::from_str(&text).map_err(|_| format!("{shown} is not the file of a server's --admin-file"))
    }

    /// Writes the file as a whole: a reader sees all of it or none.
    pub(crate) fn write(&self, path: &Path) -> Result<WrittenAdminFile, String> {
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot write {}: {error}; check --admin-file", path.display());
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(&error))?;
        let mut name = path.file_name().ok_or_else(|| failed(&"it is not a file name"))?.to_owned();
        name.push(format!(".{}", self.pid));
        let new = path.with_file_name(name);
        // A file that exists keeps its mode, so an old one is removed first.
        let _ = fs::remove_file(&new);
        let written = private_file::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            fs::rename(&new, path)
        });
        written.map_err(|error| failed(&error))?;
        Ok(WrittenAdminFile { path: path.to_owned(), content: self.clone() })
    }
}

/// A file that is removed when the server stops, unless another server has written its own since.
#[derive(Debug)]
pub(crate) struct WrittenAdminFile {
    path: PathBuf,
    content: AdminFile,
}

impl Drop for WrittenAdminFile {
    fn drop(&mut self) {
        if AdminFile::read(&self.path).is_ok_and(|found| found == self.content) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(token: &str) -> AdminFile {
        let admin = "127.0.0.1:10003".parse().unwrap();
        let table = Some("http://127.0.0.1:10002".to_owned());
        AdminFile { admin, token: token.to_owned(), blob: None, queue: None, table, pid: 7 }
    }

    #[test]
    fn the_file_is_for_its_owner_and_goes_with_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admin.json");
        fs::write(&path, "of an earlier server").unwrap();
        let written = file("one").write(&path).unwrap();
        assert_eq!(AdminFile::read(&path).unwrap(), file("one"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let later = file("two").write(&path).unwrap();
        drop(written);
        assert_eq!(AdminFile::read(&path).unwrap(), file("two"), "another server's file stays");
        drop(later);
        assert!(!path.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn another_file_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("admin.json");
        assert!(AdminFile::read(&path).unwrap_err().contains("--admin-file"));
        fs::write(&path, "{\"token\": \"c2VjcmV0\"}").unwrap();
        assert!(!AdminFile::read(&path).unwrap_err().contains("c2VjcmV0"));
    }
}
