//! Microsoft's legacy libraries that encrypt, each as a program: a task of JSON goes to its standard input, and the entities
//! that it read come from its standard output.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs8::EncodePrivateKey as _;
use serde_json::{Map, Value as Json, json};
use tablerock_client::encryption::{AesKey, EncryptionPolicy, RsaKey};
use tablerock_client::{Entity, Value};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/sdk/legacy-python/entities.py");

#[derive(Debug, Clone, Copy)]
pub(super) enum Library {
    /// `LEGACY_PYTHON` names an interpreter that has the library.
    Python,
    /// `LEGACY_JAVA` names a folder with the classes of the jobs and the library.
    Java,
}

impl Library {
    fn command(self) -> Command {
        let variable =
            |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by cargo xtask conform"));
        match self {
            Library::Python => {
                let mut command = Command::new(variable("LEGACY_PYTHON"));
                command.arg(PYTHON);
                command
            }
            Library::Java => {
                let folder = variable("LEGACY_JAVA");
                let separator = if cfg!(windows) { ";" } else { ":" };
                let mut command = Command::new("java");
                // It runs for a second: the quick compiler is enough.
                command.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp"]);
                command.arg(format!("{folder}/classes{separator}{folder}/lib/*")).args(["tablerock.Job", "encryption"]);
                command
            }
        }
    }

    /// Runs the steps of a task and returns the entities that it read, as [`described`] has them.
    pub(super) async fn run(self, connection_string: &str, task: Json) -> Json {
        let mut command = self.command();
        command.arg(connection_string).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(task.to_string().as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{self:?} failed: {}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&output.stdout).unwrap()
        })
        .await
        .unwrap()
    }
}

/// A key in both worlds.
#[derive(Clone)]
pub(super) struct SharedKey {
    pub(super) policy: EncryptionPolicy,
    pub(super) theirs: Json,
}

impl SharedKey {
    pub(super) fn aes(id: &str, secret: [u8; 32]) -> Self {
        let policy = EncryptionPolicy::new(AesKey::new(id, &secret).unwrap());
        Self { policy, theirs: json!({ "kind": "aes", "id": id, "secret": STANDARD.encode(secret) }) }
    }

    pub(super) fn rsa(id: &str) -> Self {
        let mut random = rsa::rand_core::UnwrapErr(getrandom::SysRng);
        let private = rsa::RsaPrivateKey::new(&mut random, 2048).unwrap();
        let der = private.to_pkcs8_der().unwrap();
        let pem = private.to_pkcs8_pem(rsa::pkcs8::LineEnding::LF).unwrap();
        let policy = EncryptionPolicy::new(RsaKey::from_private_pem(id, &pem).unwrap());
        Self { policy, theirs: json!({ "kind": "rsa", "id": id, "secret": STANDARD.encode(der.as_bytes()) }) }
    }
}

/// An entity as the tasks have it: each property as the name of its type and its text.
pub(super) fn described(entity: &Entity) -> Json {
    let text = |value: &Value<'_>| match value {
        Value::String(text) => text.to_string(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::DateTime(time) => time.to_string(),
        Value::Guid(id) => id.to_string(),
        Value::Binary(bytes) => STANDARD.encode(bytes),
    };
    let pair = |value: &Value<'_>| json!([value.edm_type().name(), text(value)]);
    let properties: Map<String, Json> =
        entity.properties().iter().map(|property| (property.name.to_string(), pair(&property.value))).collect();
    json!({ "PartitionKey": entity.partition_key, "RowKey": entity.row_key, "properties": properties })
}
