//! Counts of requests, and the row of a metrics table that they make.
//!
//! A row can be read back, so a period that a restart cut in two is one row in the end.

use std::borrow::Cow;

use tablerock_kv::Result as Stored;
use tablerock_protocol::analytics::{Authentication, RequestStatus};
use tablerock_protocol::{Property, Value};

use crate::table::{Properties, StoredEntity};

pub(super) const STATUSES: usize = RequestStatus::ALL.len();
pub(super) const AUTHENTICATIONS: usize = Authentication::COUNTED.len();

const US_PER_MS: f64 = 1000.0;

/// The totals of a number of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// By status, then by who asked.
    pub(super) statuses: [[u64; AUTHENTICATIONS]; STATUSES],
    pub(super) ingress_bytes: u64,
    pub(super) egress_bytes: u64,
    /// How long those took that succeeded.
    pub(super) success_us: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.statuses.iter_mut().flatten().zip(other.statuses.iter().flatten()) {
            *ours += theirs;
        }
        self.ingress_bytes += other.ingress_bytes;
        self.egress_bytes += other.egress_bytes;
        self.success_us += other.success_us;
    }

    pub(super) fn requests(&self) -> u64 {
        self.statuses.iter().flatten().sum()
    }

    fn of_status(&self, status: RequestStatus) -> u64 {
        self.statuses[status.index()].iter().sum()
    }

    fn of_those(&self, is_meant: impl Fn(RequestStatus, Authentication) -> bool) -> u64 {
        cells().filter(|(status, who)| is_meant(*status, *who)).map(|(status, who)| self.cell(status, who)).sum()
    }

    fn cell(&self, status: RequestStatus, who: Authentication) -> u64 {
        self.statuses[status.index()][who.index()]
    }

    /// The row.
    pub(super) fn to_properties(self) -> Properties {
        use RequestStatus::*;
        let requests = self.requests();
        let billable = self.of_those(RequestStatus::is_billable);
        let judged = self.of_those(RequestStatus::counts_for_availability);
        // Nothing failed where nothing was asked.
        let availability = if judged == 0 { 100.0 } else { percent(billable, judged) };
        let share =
            |statuses: &[RequestStatus]| percent(statuses.iter().map(|status| self.of_status(*status)).sum(), requests);
        let latency_ms = match self.of_status(Success) {
            0 => 0.0,
            successes => self.success_us as f64 / US_PER_MS / successes as f64,
        };
        let mut row = vec![
            count(Cow::Borrowed("TotalIngress"), self.ingress_bytes),
            count(Cow::Borrowed("TotalEgress"), self.egress_bytes),
            count(Cow::Borrowed("TotalRequests"), requests),
            count(Cow::Borrowed("TotalBillableRequests"), billable),
            number("Availability", availability),
            number("AverageE2ELatency", latency_ms),
            number("AverageServerLatency", latency_ms),
            number("PercentSuccess", share(&[Success])),
            number("PercentThrottlingError", share(&[ThrottlingError])),
            number("PercentTimeoutError", share(&[ClientTimeoutError, ServerTimeoutError])),
            number("PercentServerOtherError", share(&[ServerOtherError])),
            number("PercentClientOtherError", share(&[ClientOtherError])),
            number("PercentAuthorizationError", share(&[AuthorizationError])),
            number("PercentNetworkError", share(&[NetworkError])),
        ];
        row.extend(cells().map(|(status, who)| count(column(status, who).into(), self.cell(status, who))));
        Properties::encode(&row)
    }

    /// The counts that a row was made of.
    pub(super) fn from_entity(entity: &StoredEntity) -> Stored<Self> {
        entity.read(|properties| {
            let (mut counts, mut latency_ms) = (Self::default(), 0.0);
            for (name, value) in properties {
                match (name, value) {
                    ("TotalIngress", Value::Int64(bytes)) => counts.ingress_bytes = bytes.unsigned_abs(),
                    ("TotalEgress", Value::Int64(bytes)) => counts.egress_bytes = bytes.unsigned_abs(),
                    ("AverageE2ELatency", Value::Double(ms)) => latency_ms = ms,
                    (name, Value::Int64(requests)) => {
                        if let Some((status, who)) = cells().find(|(status, who)| column(*status, *who) == name) {
                            counts.statuses[status.index()][who.index()] = requests.unsigned_abs();
                        }
                    }
                    _ => {}
                }
            }
            counts.success_us =
                (latency_ms * US_PER_MS * counts.of_status(RequestStatus::Success) as f64).round() as u64;
            counts
        })
    }
}

/// Every status of every kind of authentication, in the order of the columns.
fn cells() -> impl Iterator<Item = (RequestStatus, Authentication)> {
    RequestStatus::ALL.into_iter().flat_map(|status| Authentication::COUNTED.map(|who| (status, who)))
}

fn column(status: RequestStatus, who: Authentication) -> String {
    [who.prefix(), status.name()].concat()
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn count(name: Cow<'static, str>, number: u64) -> Property<'static> {
    Property { name, value: Value::Int64(i64::try_from(number).unwrap_or(i64::MAX)) }
}

fn number(name: &'static str, number: f64) -> Property<'static> {
    Property { name: Cow::Borrowed(name), value: Value::Double(number) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tablerock_protocol::DateTime;

    use super::*;

    fn some() -> Counts {
        let mut counts = Counts { ingress_bytes: 10, egress_bytes: 20, success_us: 3_000, ..Counts::default() };
        counts.statuses[RequestStatus::Success.index()] = [1, 0, 1];
        counts.statuses[RequestStatus::ThrottlingError.index()][0] = 1;
        counts.statuses[RequestStatus::ServerOtherError.index()][0] = 1;
        counts.statuses[RequestStatus::AuthorizationError.index()][1] = 4;
        counts
    }

    fn column_of(properties: &Properties, wanted: &str) -> String {
        let entity = properties.at(DateTime::MIN_STORED);
        let columns = entity.read(|all| all.map(|(name, value)| (name, format!("{value:?}"))).collect());
        let columns: HashMap<&str, String> = columns.unwrap();
        columns[wanted].clone()
    }

    #[test]
    fn a_row_follows_the_rules_of_billing_and_availability() {
        let row = some().to_properties();
        assert_eq!(row.count(), 14 + STATUSES * AUTHENTICATIONS);
        for (name, value) in [
            ("TotalRequests", "Int64(8)"),
            ("TotalBillableRequests", "Int64(2)"),
            ("PercentSuccess", "Double(25.0)"),
            ("AverageE2ELatency", "Double(1.5)"),
            ("SASSuccess", "Int64(1)"),
            ("AnonymousAuthorizationError", "Int64(4)"),
            ("NetworkError", "Int64(0)"),
        ] {
            assert_eq!(column_of(&row, name), value, "{name}");
        }
        // Two were billed; the refused stranger and the throttled request say nothing.
        assert!(column_of(&row, "Availability").starts_with("Double(66.66"));
        let none = Counts::default().to_properties();
        assert_eq!(column_of(&none, "Availability"), "Double(100.0)");
        assert_eq!(column_of(&none, "PercentSuccess"), "Double(0.0)");
    }

    #[test]
    fn a_row_can_be_read_back_and_added_to() {
        let counts = some();
        let stored = counts.to_properties().at(DateTime::MIN_STORED);
        assert_eq!(Counts::from_entity(&stored).unwrap(), counts);
        let mut twice = counts;
        twice.add(&counts);
        assert_eq!((twice.requests(), twice.success_us), (16, 6_000));
    }
}
