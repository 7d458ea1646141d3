//! The PostgreSQL of tests and suites: `testkit` starts it, and this file installs it on CI.

use tablerock_testkit::postgres;

use crate::Result;
use crate::setup::debian;
use crate::workspace::{Workspace, is_ci};

pub(crate) use tablerock_testkit::postgres::DatabaseServer;
pub(crate) use tablerock_testkit::test_database::{STORE_VARIABLE, TestDatabase};

const DEBIAN_PACKAGE: &str = "postgresql";

/// Checks that PostgreSQL is installed. On CI a missing one is installed.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    if !postgres::is_installed() && is_ci() {
        debian::install_named(workspace, &[DEBIAN_PACKAGE])?;
    }
    if postgres::is_installed() {
        return Ok(());
    }
    Err("PostgreSQL is not installed; install it, or set TABLEROCK_POSTGRES_BIN to the folder of its programs"
        .to_owned())
}
