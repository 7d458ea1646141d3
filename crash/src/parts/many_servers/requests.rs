//! The requests around a drop or a revocation, and the judgement of each response.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tablerock_conformance::Target;
use tablerock_conformance::batch::{BATCH_BOUNDARY, Part, changeset_body, query_body};
use tablerock_conformance::http::Answer;
use tablerock_conformance::request::Request;
use tablerock_conformance::sas::TableSas;
use tablerock_conformance::target::Service;

use super::promises::Change;
use crate::client::{Client, Reply};

/// The rows that are written together, and so are seen together.
const ROWS: usize = 8;

/// The state of a trial that all its requests see.
#[derive(Debug, Default)]
pub(super) struct Progress {
    is_acknowledged: AtomicBool,
    is_stopped: AtomicBool,
}

impl Progress {
    /// The change has got its 2xx.
    pub(super) fn acknowledge(&self) {
        self.is_acknowledged.store(true, Ordering::SeqCst);
    }

    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    Read,
    Query,
    Upsert,
    Merge,
    Insert,
    ReadByPolicy,
    QueryInBatchByPolicy,
    UpsertByPolicy,
    MergeByPolicy,
}

impl RequestKind {
    pub(super) const ALL: [Self; 9] = [
        Self::Read,
        Self::Query,
        Self::Upsert,
        Self::Merge,
        Self::Insert,
        Self::ReadByPolicy,
        Self::QueryInBatchByPolicy,
        Self::UpsertByPolicy,
        Self::MergeByPolicy,
    ];

    fn is_by_policy(self) -> bool {
        matches!(self, Self::ReadByPolicy | Self::QueryInBatchByPolicy | Self::UpsertByPolicy | Self::MergeByPolicy)
    }

    /// Whether it writes a row of its own, which is looked for at the end.
    fn has_own_row(self) -> bool {
        matches!(self, Self::Upsert | Self::Merge)
    }
}

/// The body of a group that writes all rows.
pub(super) fn rows_body(target: &Target, table: &str, value: &str) -> String {
    let rows = (0..ROWS).map(|row| format!("r{row}")).chain(["shared".to_owned()]);
    let parts: Vec<Part> = rows
        .map(|row| {
            let url = format!("{}/{table}(PartitionKey='p',RowKey='{row}')", target.primary.base());
            Part::new("PUT", url, json!({ "Value": value }))
        })
        .collect();
    changeset_body(&parts)
}

/// One client that sends requests of one kind to one server.
pub(super) struct Requests {
    kind: RequestKind,
    change: Change,
    table: String,
    row: String,
    progress: Arc<Progress>,
}

/// The result of a client's requests.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) violations: Vec<String>,
    pub(super) before: usize,
    pub(super) after: usize,
    /// The row of its own.
    pub(super) row: String,
    /// The values that it may have: the last that was acknowledged, and those after it with an unknown outcome. Only writes
    /// that began after the change count.
    pub(super) written: Vec<Option<String>>,
}

impl Report {
    /// Whether the row may have this value at the end.
    pub(super) fn may_be(&self, found: Option<&str>) -> bool {
        self.written.is_empty() || self.written.iter().any(|value| value.as_deref() == found)
    }
}

impl Requests {
    pub(super) fn new(kind: RequestKind, change: Change, table: &str, server: usize, progress: Arc<Progress>) -> Self {
        let row = match kind {
            RequestKind::UpsertByPolicy | RequestKind::MergeByPolicy => "shared".to_owned(),
            _ => format!("own-{kind:?}-{server}"),
        };
        Self { kind, change, table: table.to_owned(), row, progress }
    }

    pub(super) async fn run(self, mut client: Client) -> Report {
        let mut report = Report { row: self.row.clone(), ..Report::default() };
        let target = client.target();
        for number in 0.. {
            if self.progress.is_stopped.load(Ordering::SeqCst) {
                break;
            }
            // Read before the request is sent: the change was acknowledged before the request began.
            let is_after = self.progress.is_acknowledged.load(Ordering::SeqCst);
            *(if is_after { &mut report.after } else { &mut report.before }) += 1;
            let value = format!("{:?}-{number}", self.kind);
            let reply = client.send(Service::Table, &self.request(&target, &value, number)).await;
            let answer = match reply {
                Reply::Response(answer) => Some(answer),
                Reply::ServerError(..) | Reply::NoResponse => None,
                Reply::NotSent => continue,
            };
            if is_after && self.kind.has_own_row() {
                match answer.as_ref().map(|answer| answer.status) {
                    Some(204) => report.written = vec![Some(value)],
                    // Rejected: nothing was written.
                    Some(_) => {}
                    None if report.written.is_empty() => report.written = vec![None, Some(value)],
                    None => report.written.push(Some(value)),
                }
            }
            if let Some(answer) = answer
                && let Err(why) = self.judge(&answer, is_after)
            {
                let when = if is_after { "after" } else { "before" };
                report.violations.push(format!("{:?} of {} that began {when}: {why}", self.kind, self.row));
            }
        }
        report
    }

    fn request<'t>(&self, target: &'t Target, value: &str, number: u64) -> Request<'t> {
        let table = &self.table;
        let entity = |row: &str| format!("/{table}(PartitionKey='p',RowKey='{row}')");
        let content = json!({ "Value": value });
        let request = match self.kind {
            RequestKind::Read | RequestKind::ReadByPolicy => Request::new(target, "GET", entity("shared")),
            RequestKind::Query => Request::new(target, "GET", format!("/{table}()"))
                .query("$filter", "PartitionKey eq 'p' and RowKey ge 'r' and RowKey lt 's'"),
            RequestKind::Upsert | RequestKind::UpsertByPolicy => {
                Request::new(target, "PUT", entity(&self.row)).json(content)
            }
            RequestKind::Merge | RequestKind::MergeByPolicy => {
                Request::new(target, "PATCH", entity(&self.row)).json(content)
            }
            RequestKind::Insert => {
                let row = format!("{}-{number}", self.row);
                let entity = json!({ "PartitionKey": "p", "RowKey": row, "Value": value });
                Request::new(target, "POST", format!("/{table}")).json(entity)
            }
            RequestKind::QueryInBatchByPolicy => {
                let url = format!("{}{}", target.primary.base(), entity("shared"));
                let content_type = format!("multipart/mixed; boundary={BATCH_BOUNDARY}");
                let body = query_body(&Part::new("GET", url, ""));
                Request::new(target, "POST", "/$batch").header("Content-Type", &content_type).body(body)
            }
        };
        if !self.kind.is_by_policy() {
            return request;
        }
        let sas = TableSas { si: "policy".into(), sp: String::new(), se: String::new(), ..TableSas::new(table, "") };
        request.sas(&sas.query(target))
    }

    fn judge(&self, answer: &Answer, is_after: bool) -> Result<(), String> {
        let text = String::from_utf8_lossy(&answer.body);
        // The response inside a batch counts.
        let status = match text.find("HTTP/1.1 ").and_then(|at| text.get(at + 9..at + 12)) {
            Some(inner) if self.kind == RequestKind::QueryInBatchByPolicy => inner.parse().unwrap_or(answer.status),
            _ => answer.status,
        };
        let is_success = status < 300;
        if ![200, 201, 204, 404, 403, 409, 503].contains(&status) {
            return Err(format!("{status}: {text}"));
        }
        match self.change {
            Change::Drop if is_after && is_success => Err(format!("{status} although the table is gone: {text}")),
            Change::Revoke if is_after && self.kind.is_by_policy() && is_success => {
                Err(format!("{status} although the policy is revoked: {text}"))
            }
            Change::Revoke if !is_success && !self.kind.is_by_policy() => Err(format!("{status}: {text}")),
            // The owner writes it after the revocation.
            Change::Revoke if self.kind.is_by_policy() && is_success && text.contains("\"owner\"") => {
                Err(format!("what was written after the revocation is shown: {text}"))
            }
            Change::Recreate if is_after && is_success && text.contains("\"old\"") => {
                Err(format!("an entity of the table that was dropped is shown: {text}"))
            }
            _ if self.kind == RequestKind::Query && is_success => judge_page(&text),
            _ => Ok(()),
        }
    }
}

/// All rows are there with the same value, or none.
fn judge_page(text: &str) -> Result<(), String> {
    let page: Value = serde_json::from_str(text).map_err(|why| why.to_string())?;
    let values: Vec<&str> =
        page["value"].as_array().into_iter().flatten().filter_map(|row| row["Value"].as_str()).collect();
    let is_whole = values.is_empty() || values.len() == ROWS && values.iter().all(|value| *value == values[0]);
    if is_whole { Ok(()) } else { Err(format!("a part of the table is shown: {values:?}")) }
}
