//! The load page, as HTML and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tablerock_protocol::Service;
use tablerock_services::{LoadedHolding, LoadedPartition, Rate};

use crate::admin::escape;
use crate::admin::nodes_page;
use crate::admin::store_load::ShownLoad;

/// The number of tables, queues and containers, and of partitions, on the page.
pub(crate) const SHOWN_MAX: usize = 50;

/// The page reloads itself and has no script.
pub(super) const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta http-equiv=\"refresh\" content=\"5\"><title>Tablerock: load</title><style>\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;width:100%}th,td{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #ddd}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.k{word-break:break-all}\
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}th,td{border-color:#444}}\
</style></head><body>";

/// The text above the tables.
pub(super) fn introduction(load: &ShownLoad) -> String {
    let by = match load.servers {
        ..=1 => "this server".to_owned(),
        servers => format!("{servers} servers"),
    };
    let mut text = format!(
        "<p>Entities, messages and blob requests per second over about the last minute, as seen by {by}, hottest first. \
         A queue is one partition, and so is a blob. Entries that joined the list late may under-count by up to \
         <em>unseen</em>. As JSON: <a href=\"/load.json\">/load.json</a>.</p>"
    );
    if let Some(problem) = &load.problem {
        let _ = write!(text, "<p><strong>The load of other servers is missing:</strong> {}</p>", escape::html(problem));
    }
    text
}

/// The page at `/load`.
pub(super) fn html(load: &ShownLoad) -> String {
    let report = &load.report;
    let mut page = format!("{HEAD}<h1>Load</h1>{}", introduction(load));
    if load.has_nodes() {
        page.push_str("<p><a href=\"/load/nodes\">Partitions by node</a></p>");
    }
    let holdings = report.holdings.iter();
    let holdings =
        holdings.map(|(holding, rate)| ([holding.service.name(), &holding.account[..], &holding.name[..]], rate));
    section(&mut page, "Tables, queues and containers", ["Service", "Account", "Name"], holdings);
    let partitions = report.partitions.iter().enumerate().map(|(place, (loaded, rate))| {
        let LoadedPartition { service, account, name, partition } = loaded;
        ([service.name(), &account[..], &name[..], &partition[..], load.node(place).unwrap_or_default()], rate)
    });
    match load.has_nodes() {
        true => {
            section(&mut page, "Partitions", ["Service", "Account", "Name", "PartitionKey or blob", "Node"], partitions)
        }
        false => {
            let partitions = partitions
                .map(|([service, account, name, partition, _], rate)| ([service, account, name, partition], rate));
            section(&mut page, "Partitions", ["Service", "Account", "Name", "PartitionKey or blob"], partitions);
        }
    }
    page.push_str("</body></html>\n");
    page
}

fn section<'a, const N: usize>(
    page: &mut String,
    title: &str,
    columns: [&str; N],
    rows: impl Iterator<Item = ([&'a str; N], &'a Rate)>,
) {
    let _ = write!(page, "<h2>{title}</h2><table><thead><tr>");
    columns.iter().for_each(|column| page.extend(["<th>", column, "</th>"]));
    page.push_str("<th class=n>reads/s</th><th class=n>writes/s</th><th class=n>unseen</th></tr></thead><tbody>");
    for (names, rate) in rows {
        page.push_str("<tr>");
        names.iter().for_each(|name| page.extend(["<td class=k>", &escape::html(name), "</td>"]));
        let Rate { reads, writes, unseen } = rate;
        let _ =
            write!(page, "<td class=n>{reads:.1}</td><td class=n>{writes:.1}</td><td class=n>{unseen:.1}</td></tr>");
    }
    page.push_str("</tbody></table>");
}

/// The document at `/load.json`.
pub(super) fn json(load: &ShownLoad) -> String {
    let report = &load.report;
    let rates = |rate: &Rate| json!({ "readsPerSecond": rate.reads, "writesPerSecond": rate.writes, "unseenPerSecond": rate.unseen });
    let merged = |mut names: Value, rate: &Rate| {
        if let (Value::Object(names), Value::Object(rates)) = (&mut names, rates(rate)) {
            names.extend(rates);
        }
        names
    };
    let named = |wanted: Service| -> Vec<Value> {
        let of_service = report.holdings.iter().filter(|(holding, _)| holding.service == wanted);
        let entries = of_service.map(|(LoadedHolding { account, name, .. }, rate)| match wanted {
            Service::Table => merged(json!({ "account": account, "table": name }), rate),
            Service::Queue => merged(json!({ "account": account, "queue": name }), rate),
            Service::Blob => merged(json!({ "account": account, "container": name }), rate),
        });
        entries.collect()
    };
    let partitions = report.partitions.iter().enumerate().map(|(place, (loaded, rate))| {
        let LoadedPartition { service, account, name, partition } = loaded;
        let names = match service {
            Service::Table => json!({ "table": name, "partitionKey": partition }),
            Service::Queue => json!({ "queue": name }),
            Service::Blob => json!({ "container": name, "blob": partition }),
        };
        let mut entry = merged(names, rate);
        entry["service"] = service.name().into();
        entry["account"] = account.as_str().into();
        if let Some(node) = load.node(place) {
            entry["node"] = node.into();
        }
        entry
    });
    let nodes = nodes_page::by_node(load).into_iter().map(|(node, rate, partitions)| {
        json!({ "node": node, "readsPerSecond": rate.reads, "writesPerSecond": rate.writes, "partitions": partitions.len() })
    });
    let nodes: Vec<Value> = nodes.collect();
    let document = json!({
        "tables": named(Service::Table),
        "queues": named(Service::Queue),
        "containers": named(Service::Blob),
        "partitions": partitions.collect::<Vec<Value>>(),
        "nodes": nodes,
        "servers": load.servers,
        "problem": load.problem,
    });
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use tablerock_services::LoadReport;

    use super::*;

    fn report() -> ShownLoad {
        let rate = Rate { reads: 12.34, writes: 5.0, unseen: 0.0 };
        let mut report = LoadReport::default();
        for (service, name, partition) in [
            (Service::Table, "People", "<script>\u{7}&"),
            (Service::Queue, "jobs", ""),
            (Service::Blob, "photos", "a/b"),
        ] {
            let (account, name) = ("acct".to_owned(), name.to_owned());
            let holding = LoadedHolding { service, account: account.clone(), name: name.clone() };
            report.holdings.push((holding, rate));
            report.partitions.push((LoadedPartition { service, account, name, partition: partition.to_owned() }, rate));
        }
        let nodes = vec![Some("worker:5432".to_owned()), None, None];
        ShownLoad { report, servers: 3, nodes, problem: None }
    }

    #[test]
    fn the_page_shows_keys_as_text() {
        let page = html(&report());
        assert!(
            page.contains(
                "<td class=k>&lt;script&gt;\\u{7}&amp;</td><td class=k>worker:5432</td><td class=n>12.3</td>"
            ),
            "{page}"
        );
        assert!(!page.contains("<script>"));
        assert!(page.contains("<td class=k>queue</td><td class=k>acct</td><td class=k>jobs</td>"), "{page}");
    }

    #[test]
    fn the_document_has_the_same() {
        let document: Value = serde_json::from_str(&json(&report())).unwrap();
        assert_eq!(document["tables"][0]["table"], "People");
        assert_eq!(document["partitions"][0]["partitionKey"], "<script>\u{7}&");
        assert_eq!(document["partitions"][0]["writesPerSecond"], 5.0);
        assert_eq!(
            (&document["queues"][0]["queue"], &document["partitions"][1]["queue"]),
            (&json!("jobs"), &json!("jobs"))
        );
        assert_eq!(document["containers"][0]["container"], "photos");
        assert_eq!((&document["servers"], &document["problem"]), (&json!(3), &Value::Null));
        assert_eq!(
            (&document["partitions"][0]["node"], &document["nodes"][0]["node"]),
            (&json!("worker:5432"), &json!("worker:5432"))
        );
        assert_eq!(
            (&document["partitions"][2]["service"], &document["partitions"][2]["blob"]),
            (&json!("blob"), &json!("a/b"))
        );
    }
}
