//! The PostgreSQL that tests and suites run on: the server is the tests' own, its installation is ours.

use tablerock_testkit::postgres;

use crate::Result;
use crate::setup::debian;
use crate::workspace::{Workspace, is_ci};

pub(crate) use tablerock_testkit::postgres::DatabaseServer;

const DEBIAN_PACKAGE: &str = "postgresql";

/// Makes sure that there is one to start. On CI it is installed if need be.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    if !postgres::is_installed() && is_ci() {
        debian::install_named(workspace, &[DEBIAN_PACKAGE])?;
    }
    if postgres::is_installed() {
        return Ok(());
    }
    Err("no PostgreSQL on this machine; install it, or name the folder of its programs in TABLEROCK_POSTGRES_BIN"
        .to_owned())
}
