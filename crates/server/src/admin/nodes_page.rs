//! The page of the hottest partitions by node of the database.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tablerock_services::{LoadedPartition, Rate};

use crate::admin::escape;
use crate::admin::load_page::{HEAD, introduction};
use crate::admin::store_load::ShownLoad;

/// A partition with its rate.
type Row<'a> = (&'a LoadedPartition, &'a Rate);

/// The page at `/load/nodes`: the nodes in the order of their load, each with its partitions.
pub(super) fn html(load: &ShownLoad) -> String {
    let mut page = format!("{HEAD}<h1>Load by node</h1>{}", introduction(load));
    page.push_str("<p>Only the hottest partitions are added up. <a href=\"/load\">All partitions</a></p>");
    let nodes = by_node(load);
    if nodes.is_empty() {
        page.push_str("<p>The store has no nodes with partitions of their own, or no partition is busy.</p>");
    }
    for (node, rate, partitions) in &nodes {
        let Rate { reads, writes, .. } = rate;
        let _ = write!(page, "<h2>{}</h2><p>{reads:.1} reads/s, {writes:.1} writes/s</p>", escape::html(node));
        page.push_str("<table><thead><tr><th>Service</th><th>Account</th><th>Name</th><th>PartitionKey or blob</th>");
        page.push_str("<th class=n>reads/s</th><th class=n>writes/s</th></tr></thead><tbody>");
        for (LoadedPartition { service, account, name, partition }, rate) in partitions {
            page.push_str("<tr>");
            for text in [service.name(), account, name, partition] {
                page.extend(["<td class=k>", &escape::html(text), "</td>"]);
            }
            let _ = write!(page, "<td class=n>{:.1}</td><td class=n>{:.1}</td></tr>", rate.reads, rate.writes);
        }
        page.push_str("</tbody></table>");
    }
    page.push_str("</body></html>\n");
    page
}

/// The nodes with the sums of their partitions, busiest first.
pub(super) fn by_node(load: &ShownLoad) -> Vec<(&str, Rate, Vec<Row<'_>>)> {
    let mut nodes: BTreeMap<&str, (Rate, Vec<Row<'_>>)> = BTreeMap::new();
    for (place, (partition, rate)) in load.report.partitions.iter().enumerate() {
        let Some(node) = load.node(place) else { continue };
        let (sum, rows) = nodes.entry(node).or_default();
        sum.reads += rate.reads;
        sum.writes += rate.writes;
        rows.push((partition, rate));
    }
    let mut nodes: Vec<_> = nodes.into_iter().map(|(node, (sum, rows))| (node, sum, rows)).collect();
    nodes.sort_by(|one, other| other.1.total().total_cmp(&one.1.total()));
    nodes
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::Service;
    use tablerock_services::LoadReport;

    use super::*;

    #[test]
    fn partitions_are_shown_with_their_node_and_the_busiest_node_comes_first() {
        let partition = |name: &str, reads| {
            let (account, name) = ("acct".to_owned(), name.to_owned());
            let loaded = LoadedPartition { service: Service::Table, account, name, partition: "<p>".to_owned() };
            (loaded, Rate { reads, writes: 1.0, unseen: 0.0 })
        };
        let partitions = vec![partition("A", 50.0), partition("B", 40.0), partition("C", 30.0), partition("D", 9.0)];
        let nodes = ["one:1", "two:2", "two:2"].map(|node| Some(node.to_owned())).to_vec();
        let report = LoadReport { holdings: vec![], partitions };
        let load = ShownLoad { report, servers: 2, nodes, problem: Some("away".to_owned()) };
        let found: Vec<_> =
            by_node(&load).into_iter().map(|(node, rate, rows)| (node, rate.reads, rows.len())).collect();
        assert_eq!(found, [("two:2", 70.0, 2), ("one:1", 50.0, 1)]);
        let page = html(&load);
        assert!(page.contains("<h2>two:2</h2><p>70.0 reads/s, 2.0 writes/s</p>"), "{page}");
        assert!(page.contains("&lt;p&gt;") && page.contains("2 servers") && page.contains("away"), "{page}");
    }
}
