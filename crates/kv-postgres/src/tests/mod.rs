//! Tests that look at statements and tables, on a real PostgreSQL.

#[path = "../../tests/database/mod.rs"]
mod database;
mod migrations;
mod plans;

use std::sync::LazyLock;

use database::DatabaseServer;

static DATABASE: LazyLock<DatabaseServer> = LazyLock::new(DatabaseServer::start);
