//! Where the load is, as a page for people and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tablerock_services::{LoadReport, Rate};

use crate::escape;

/// How many tables, and how many partitions, are shown.
pub(crate) const SHOWN_MAX: usize = 50;

/// The page reloads itself; nothing else on it moves.
const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta http-equiv=\"refresh\" content=\"5\"><title>Tablerock: load</title><style>\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;width:100%}th,td{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #ddd}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.k{word-break:break-all}\
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}th,td{border-color:#444}}\
</style></head><body><h1>Load</h1><p>Entities per second of the last minute or so, as this server sees it, hottest first. \
An entry may have had up to <em>unseen</em> more while it was not among the hottest. \
The same as JSON: <a href=\"/load.json\">/load.json</a>.</p>";

/// The page at `/load`.
pub(crate) fn html(report: &LoadReport) -> String {
    let mut page = HEAD.to_owned();
    let tables = report.tables.iter().map(|(name, rate)| ([&name.account[..], &name.table[..]], rate));
    section(&mut page, "Tables", ["Account", "Table"], tables);
    let partitions = report.partitions.iter();
    let partitions =
        partitions.map(|(name, rate)| ([&name.account[..], &name.table[..], &name.partition_key[..]], rate));
    section(&mut page, "Partitions", ["Account", "Table", "PartitionKey"], partitions);
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
pub(crate) fn json(report: &LoadReport) -> String {
    let rates = |rate: &Rate| json!({ "readsPerSecond": rate.reads, "writesPerSecond": rate.writes, "unseenPerSecond": rate.unseen });
    let merged = |mut names: Value, rate: &Rate| {
        if let (Value::Object(names), Value::Object(rates)) = (&mut names, rates(rate)) {
            names.extend(rates);
        }
        names
    };
    let tables = report.tables.iter();
    let tables = tables.map(|(name, rate)| merged(json!({ "account": name.account, "table": name.table }), rate));
    let partitions = report.partitions.iter().map(|(name, rate)| {
        let names = json!({ "account": name.account, "table": name.table, "partitionKey": name.partition_key });
        merged(names, rate)
    });
    let (tables, partitions): (Vec<Value>, Vec<Value>) = (tables.collect(), partitions.collect());
    format!("{}\n", json!({ "tables": tables, "partitions": partitions }))
}

#[cfg(test)]
mod tests {
    use tablerock_services::{LoadedPartition, LoadedTable};

    use super::*;

    fn report() -> LoadReport {
        let (account, table) = ("acct".to_owned(), "People".to_owned());
        let rate = Rate { reads: 12.34, writes: 5.0, unseen: 0.0 };
        let partition_key = "<script>\u{7}&".to_owned();
        LoadReport {
            tables: vec![(LoadedTable { account: account.clone(), table: table.clone() }, rate)],
            partitions: vec![(LoadedPartition { account, table, partition_key }, rate)],
        }
    }

    #[test]
    fn the_page_shows_keys_as_text() {
        let page = html(&report());
        assert!(page.contains("<td class=k>&lt;script&gt;\\u{7}&amp;</td><td class=n>12.3</td>"), "{page}");
        assert!(!page.contains("<script>"));
    }

    #[test]
    fn the_document_has_the_same() {
        let document: Value = serde_json::from_str(&json(&report())).unwrap();
        assert_eq!(document["tables"][0]["table"], "People");
        assert_eq!(document["partitions"][0]["partitionKey"], "<script>\u{7}&");
        assert_eq!(document["partitions"][0]["writesPerSecond"], 5.0);
    }
}
