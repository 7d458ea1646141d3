//! The dependencies of the workspace on all platforms, as `cargo metadata` lists them.

use serde::Deserialize;

use crate::Result;

#[derive(Debug, Deserialize)]
pub(super) struct Graph {
    pub(super) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) license: Option<String>,
    /// `None` for the crates of the workspace.
    pub(super) source: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// The required version.
    pub(super) req: String,
    /// A folder of this machine.
    pub(super) path: Option<String>,
}

impl Graph {
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).map_err(|error| format!("cargo metadata: {error}"))
    }
}
