//! What queues and blobs say about a SAS whose time has not come or is over.

use crate::expect::{Failure, equal};
use crate::response::Response;
use crate::sas::{AccountSas, QueueSas};
use crate::{Outcome, Session, cases, clock};

cases! {
    Authentication {
        an_expired_sas_without_a_start_names_its_expiry,
        an_expired_sas_with_a_start_names_its_time_frame,
        a_sas_before_its_start_names_its_time_frame,
        an_expired_account_sas_names_its_time_frame,
    }
}

/// The detail with its dates replaced by `[..]`, and its first date.
fn detail(response: &Response) -> Outcome<(String, String)> {
    response.expect_code(403, "AuthenticationFailed")?;
    let detail = response.xml()?.at("AuthenticationErrorDetail").unwrap_or_default().to_owned();
    let mut pieces = detail.split(['[', ']']);
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    let mut first = None;
    while let (Some(date), Some(text)) = (pieces.next(), pieces.next()) {
        let is_date = httpdate::parse_http_date(date).is_ok();
        is_date.then_some(()).ok_or_else(|| Failure::new(format!("not a date: {date:?} in {detail:?}")))?;
        first.get_or_insert(date.to_owned());
        shown.push_str(&format!("[..]{text}"));
    }
    Ok((shown, first.unwrap_or_default()))
}

const FRAME: &str = "Signature not valid in the specified time frame: Start [..] - Expiry [..] - Current [..]";

async fn an_expired_sas_without_a_start_names_its_expiry(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let past = clock::now() - clock::minutes(60);
    let sas = QueueSas { se: clock::iso8601(past), ..QueueSas::new(&queue.name, "r") };
    let (detail, expiry) = detail(&queue.peek()?.sas(&sas.query(at.target())).send().await?)?;
    equal("detail", detail.as_str(), "Signed expiry time [..] must be after signed start time [..]")?;
    equal("expiry", expiry, clock::rfc1123(past))
}

async fn an_expired_sas_with_a_start_names_its_time_frame(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let (start, past) = (clock::now() - clock::minutes(90), clock::now() - clock::minutes(60));
    let sas = QueueSas { st: clock::iso8601(start), se: clock::iso8601(past), ..QueueSas::new(&queue.name, "r") };
    let (detail, first) = detail(&queue.peek()?.sas(&sas.query(at.target())).send().await?)?;
    equal("detail", detail.as_str(), FRAME)?;
    equal("start", first, clock::rfc1123(start))
}

async fn a_sas_before_its_start_names_its_time_frame(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let start = clock::now() + clock::minutes(30);
    let sas = QueueSas { st: clock::iso8601(start), ..QueueSas::new(&queue.name, "r") };
    let (detail, first) = detail(&queue.peek()?.sas(&sas.query(at.target())).send().await?)?;
    equal("detail", detail.as_str(), FRAME)?;
    equal("start", first, clock::rfc1123(start))
}

async fn an_expired_account_sas_names_its_time_frame(at: &Session) -> Outcome {
    let container = at.container().await?;
    let (start, past) = (clock::now() - clock::minutes(90), clock::now() - clock::minutes(60));
    let sas = AccountSas {
        ss: "b".into(),
        st: clock::iso8601(start),
        se: clock::iso8601(past),
        ..AccountSas::new("sco", "rl")
    };
    let response = container.request("GET")?.sas(&sas.query(at.target())).send().await?;
    let (detail, first) = detail(&response)?;
    equal("detail", detail.as_str(), FRAME)?;
    equal("start", first, clock::rfc1123(start))
}
