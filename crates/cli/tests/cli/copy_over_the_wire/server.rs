//! Servers and copies as processes.

use std::process::{Command, Output};

use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, SignedResourceTypes, SignedServices,
};
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess};

pub(crate) const ACCOUNT: &str = "acct";

/// A server that is killed when dropped.
pub(crate) struct Server {
    process: ServerProcess,
    key: &'static str,
}

impl Server {
    pub(crate) fn start(key: &'static str, data: &[&str]) -> Self {
        let mut command = tablerock(data);
        command.args(["--accounts", &format!("{ACCOUNT}:{key}")]).args(ANY_PORTS).args(NO_ADMIN);
        Self { process: ServerProcess::start(&mut command), key }
    }

    pub(crate) fn in_memory(key: &'static str) -> Self {
        Self::start(key, &["--in-memory"])
    }

    pub(crate) fn address(&self, service: &str) -> &str {
        self.process.address(service)
    }

    fn endpoints(&self) -> String {
        let endpoint = |service| format!("{service}Endpoint=http://{}/{ACCOUNT}", self.address(service));
        ["Blob", "Queue", "Table"].map(endpoint).join(";")
    }

    pub(crate) fn connection_string(&self) -> String {
        format!("AccountName={ACCOUNT};AccountKey={};{}", self.key, self.endpoints())
    }

    /// The same with a SAS for some services instead of the key.
    pub(crate) fn connection_string_with_sas(&self, services: &str) -> String {
        format!("{};SharedAccessSignature={}", self.endpoints(), self.sas(services))
    }

    pub(crate) fn sas(&self, services: &str) -> String {
        let (services, types) = (SignedServices::parse(services).unwrap(), SignedResourceTypes::parse("sco").unwrap());
        let permissions = AccountPermissions::parse("rwdlacup").unwrap();
        let terms = AccountSasTerms::new(services, types, permissions, DateTime::MAX);
        terms.sign(ACCOUNT, &AccountKey::parse(self.key).unwrap()).unwrap().to_query()
    }

    pub(crate) fn stop(self) {
        self.process.stop();
    }
}

pub(crate) fn tablerock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
    command.env_clear().args(arguments);
    command
}

/// A copy that has ended, with all that it said.
pub(crate) struct Copied {
    pub(crate) is_success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Copied {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
        Self { is_success: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Copies with the folder for the file that remembers.
pub(crate) fn copy(folder: &std::path::Path, from: &str, to: &str) -> Copied {
    let mut command = tablerock(&["copy", "--from", from, "--to", to]);
    command.current_dir(folder).output().expect("the binary runs").into()
}

/// The files that remember.
pub(crate) fn remembered(folder: &std::path::Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "progress"));
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}
