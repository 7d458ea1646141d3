//! The settings on which durability depends, on every node of the database.
//!
//! Each connection has its commits synced, but Citus does not pass this on to other nodes, where the role's own setting
//! decides. A node that acknowledges commits before they are synced would lose acknowledged writes in a crash, so the start
//! fails. Disabled syncs and page images are a decision of the operator: they cause a warning.

use tablerock_kv::{Error, Result};
use tokio_postgres::Client;

use crate::connection::setting;
use crate::failure::translate;
use crate::kind::Kind;

/// The settings of one node, in the order of its response.
const ON_ALL_NODES: &str = "SELECT concat(node.nodename, ':', node.nodeport), command.success, command.result \
     FROM run_command_on_all_nodes('SELECT concat_ws('' '', current_setting(''synchronous_commit''), \
     current_setting(''fsync''), current_setting(''full_page_writes''))') AS command \
     JOIN pg_dist_node AS node ON node.nodeid = command.nodeid ORDER BY 1";

/// Checks the settings of the node that `client` is connected to, and on Citus those of all nodes.
pub(crate) async fn check(client: &Client, kind: Kind, role: &str) -> Result<()> {
    if kind != Kind::Citus {
        let fsync = setting(client, "fsync").await?.unwrap_or_default();
        let full_page_writes = setting(client, "full_page_writes").await?.unwrap_or_default();
        warn_of_disabled("this", &fsync, &full_page_writes);
        return Ok(());
    }
    let failed = |error| translate("cannot read the durability settings of the nodes", error);
    let mut unsynced = vec![];
    for row in client.query(ON_ALL_NODES, &[]).await.map_err(failed)? {
        let (node, is_read, result): (String, bool, String) = (
            row.try_get(0).map_err(failed)?,
            row.try_get(1).map_err(failed)?,
            row.try_get::<_, Option<String>>(2).map_err(failed)?.unwrap_or_default(),
        );
        if !is_read {
            tracing::warn!(node, reason = result, "cannot read the durability settings of a node");
            continue;
        }
        let mut values = result.split(' ');
        let mut next = || values.next().unwrap_or_default();
        let (synchronous_commit, fsync, full_page_writes) = (next(), next(), next());
        if matches!(synchronous_commit, "off" | "local") {
            unsynced.push(format!("{node} has synchronous_commit = {synchronous_commit}"));
        }
        warn_of_disabled(&node, fsync, full_page_writes);
    }
    if unsynced.is_empty() {
        return Ok(());
    }
    let message = format!(
        "nodes acknowledge commits before they are synced: {}. Run ALTER ROLE {role} SET synchronous_commit = on at the \
         coordinator, and start again",
        unsynced.join(", ")
    );
    Err(Error::invalid(message))
}

fn warn_of_disabled(node: &str, fsync: &str, full_page_writes: &str) {
    if fsync == "off" {
        tracing::warn!(node, "the database runs with fsync = off: a power cut may lose acknowledged writes");
    }
    if full_page_writes == "off" {
        tracing::warn!(
            node,
            "the database runs with full_page_writes = off: a power cut may damage pages, unless the file system \
             writes them whole"
        );
    }
}
