//! Tests that look at statements and tables, on a real PostgreSQL.

mod citus;
mod migrations;
mod plans;
mod space;

use std::sync::LazyLock;

use tablerock_testkit::postgres::DatabaseServer;

static DATABASE: LazyLock<DatabaseServer> = LazyLock::new(DatabaseServer::start);
