//! The format: an OCI image layout that also has the `manifest.json` of `docker save`, so that one tar serves all engines.

use serde_json::{Value, json};

use super::architecture;
use crate::Result;
use crate::archive::digest::sha256_hex;
use crate::archive::file_tree::FileTree;
use crate::archive::gzip;
use crate::package::version::Version;

const CONFIG_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

/// A second in the unit of Docker's durations.
const SECOND: u64 = 1_000_000_000;

/// The command of Azurite's image, so that a compose file changes only the name of the image.
const COMMAND: [&str; 9] =
    ["azurite", "-l", "/data", "--blobHost", "0.0.0.0", "--queueHost", "0.0.0.0", "--tableHost", "0.0.0.0"];

/// A layer: its bytes as stored, and the digest of its tar.
struct Layer {
    bytes: Vec<u8>,
    diff_id: String,
}

/// The variants of the image, which have the same layers: what their tags end with, and the user. Root is the default, as in
/// Azurite's image: harnesses copy keys that only root can read, and mount folders of the machine.
const VARIANTS: [(&str, &str); 2] = [("", ""), ("nonroot", "65532:65532")];

/// Returns the files of the layout.
pub(super) fn layout(version: &Version, trees: &[FileTree]) -> Result<FileTree> {
    let mut layers = Vec::new();
    for tree in trees {
        let tar = tree.to_tar("", version.time)?;
        layers.push(Layer { bytes: gzip::compress(&tar), diff_id: format!("sha256:{}", sha256_hex(&tar)) });
    }
    let mut files = FileTree::default();
    let (mut manifests, mut saved) = (Vec::new(), Vec::new());
    for (suffix, user) in VARIANTS {
        let config = config(version, &layers, user).to_string().into_bytes();
        let manifest = manifest(&config, &layers).to_string().into_bytes();
        let [numbered, moving] = tags(version, suffix);
        let mut in_index = descriptor(MANIFEST_TYPE, &manifest);
        in_index["platform"] = json!({ "architecture": architecture(), "os": "linux" });
        in_index["annotations"] = json!({
            "io.containerd.image.name": format!("docker.io/library/tablerock:{numbered}"),
            "org.opencontainers.image.ref.name": numbered,
        });
        manifests.push(in_index);
        saved.push(json!({
            "Config": blob_path(&config),
            "RepoTags": [format!("tablerock:{numbered}"), format!("tablerock:{moving}")],
            "Layers": layers.iter().map(|layer| blob_path(&layer.bytes)).collect::<Vec<_>>(),
        }));
        for blob in [config, manifest] {
            files.file(&blob_path(&blob), blob);
        }
    }
    files.file("oci-layout", json!({ "imageLayoutVersion": "1.0.0" }).to_string());
    files
        .file("index.json", json!({ "schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": manifests }).to_string());
    files.file("manifest.json", Value::from(saved).to_string());
    for layer in layers {
        files.file(&blob_path(&layer.bytes), layer.bytes);
    }
    Ok(files)
}

fn manifest(config: &[u8], layers: &[Layer]) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": descriptor(CONFIG_TYPE, config),
        "layers": layers.iter().map(|layer| descriptor(LAYER_TYPE, &layer.bytes)).collect::<Vec<_>>(),
    })
}

/// The tags of a variant: of this version, and of the newest one.
fn tags(version: &Version, suffix: &str) -> [String; 2] {
    match suffix {
        "" => [version.number.clone(), "latest".to_owned()],
        suffix => [format!("{}-{suffix}", version.number), suffix.to_owned()],
    }
}

fn blob_path(bytes: &[u8]) -> String {
    format!("blobs/sha256/{}", sha256_hex(bytes))
}

fn descriptor(media_type: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": format!("sha256:{}", sha256_hex(bytes)), "size": bytes.len() })
}

/// The configuration. `Healthcheck` is Docker's extension of the format; other engines ignore it.
fn config(version: &Version, layers: &[Layer], user: &str) -> Value {
    json!({
        "architecture": architecture(),
        "os": "linux",
        "created": version.timestamp(),
        "config": {
            // Naming the host asks for the admin address, which a single service of Azurite would not have.
            "Env": ["PATH=/usr/local/bin:/bin", "TABLEROCK_ADMIN_HOST=127.0.0.1"],
            "User": user,
            "Cmd": COMMAND,
            "WorkingDir": "/data",
            "Volumes": { "/data": {} },
            "ExposedPorts": { "10000/tcp": {}, "10001/tcp": {}, "10002/tcp": {} },
            "Healthcheck": {
                "Test": ["CMD", "tablerock", "health"],
                "Interval": 10 * SECOND,
                "Timeout": 6 * SECOND,
                "StartPeriod": 60 * SECOND,
                "StartInterval": SECOND,
                "Retries": 3,
            },
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "tablerock",
                "org.opencontainers.image.description":
                    "Azure Table, Queue and Blob Storage that you can own: one small binary, instead of Azurite",
                "org.opencontainers.image.version": version.number,
                "org.opencontainers.image.revision": version.commit.as_deref().unwrap_or_default(),
                // Busybox is a program of its own in the image.
                "org.opencontainers.image.licenses": "(MIT OR Apache-2.0) AND GPL-2.0-only",
            },
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": layers.iter().map(|layer| layer.diff_id.as_str()).collect::<Vec<_>>(),
        },
        "history": layers.iter().map(|_| json!({
            "created": version.timestamp(),
            "created_by": "cargo xtask image",
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_names_every_blob_by_its_digest_and_is_the_same_twice() {
        let version = Version { number: "1.2.3".to_owned(), commit: None, time: 1_795_003_200 };
        let mut tree = FileTree::default();
        tree.file("data/a", *b"content");
        let files = layout(&version, &[tree.clone()]).unwrap();
        let again = layout(&version, &[tree]).unwrap();
        assert_eq!(files.to_tar("", 1).unwrap(), again.to_tar("", 1).unwrap());
        let named: Vec<_> =
            files.files().filter_map(|(path, bytes)| Some((path.strip_prefix("blobs/sha256/")?, bytes))).collect();
        assert_eq!(named.len(), 5, "a layer, and the configuration and the manifest of each variant");
        assert!(named.iter().all(|(name, bytes)| *name == sha256_hex(bytes)));
        let find = |name: &str| files.files().find(|(path, _)| *path == name).unwrap().1;
        let index: Value = serde_json::from_slice(find("index.json")).unwrap();
        let digest = index["manifests"][0]["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
        let manifest: Value = serde_json::from_slice(find(&digest)).unwrap();
        let docker: Value = serde_json::from_slice(find("manifest.json")).unwrap();
        let layer = manifest["layers"][0]["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
        assert_eq!(docker[0]["Layers"][0], layer);
        let config: Value = serde_json::from_slice(find(docker[0]["Config"].as_str().unwrap())).unwrap();
        assert_eq!(config["config"]["User"], "");
        assert_eq!(docker[1]["RepoTags"], json!(["tablerock:1.2.3-nonroot", "tablerock:nonroot"]));
        assert!(config["config"].get("Entrypoint").is_none(), "commands name the program, as with Azurite");
    }
}
