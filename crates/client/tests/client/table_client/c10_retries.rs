//! Retries with backoff for transient errors, within a time limit, and errors that admit an unknown outcome.

use std::collections::HashSet;
use std::time::Duration;

use tablerock_client::{
    ClientOptions, Entity, EntityError, Error, ErrorCode, FromEntity, RetryPolicy, TableClient, TableOperation,
    TableServiceClient,
};
use tokio::time::Instant;

use crate::support::{Account, Script, Server, ServerOptions, Step, unique_name};

/// Waits that a test can wait for.
fn swift() -> ClientOptions {
    let retry = RetryPolicy::default().initial_delay(Duration::from_millis(2)).max_delay(Duration::from_millis(10));
    ClientOptions::new().retry(retry)
}

/// A table that is there, behind a script.
async fn scripted(account: &Account, steps: impl IntoIterator<Item = Step>) -> (TableClient, Script) {
    let name = account.table().await.name().to_owned();
    let script = Script::new(steps);
    (account.tables_with(swift().transport(script.clone())).table(name), script)
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let account = Account::open().await;
    for step in [Step::Refuse, Step::LoseAnswer].into_iter().chain([408, 429, 500, 502, 503, 504].map(Step::status)) {
        let (table, script) = scripted(&account, [step.clone(), step.clone()]).await;
        table.insert_or_replace(&Entity::new("p", "r")).await.unwrap();
        let requests = script.requests();
        assert_eq!(requests.len(), 3, "{step:?}");
        // One call has one id, however often it is sent; each try is signed afresh.
        let ids: HashSet<_> =
            requests.iter().map(|request| request.headers()["x-ms-client-request-id"].clone()).collect();
        assert_eq!(ids.len(), 1);
        assert!(requests.iter().all(|request| request.headers().contains_key("authorization")));
        assert!(requests[0].headers()["user-agent"].to_str().unwrap().starts_with("tablerock-client/"));
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not_tried_again() {
    let account = Account::open().await;
    for status in [400, 401, 403, 404, 409, 412, 413, 501] {
        let (table, script) = scripted(&account, [Step::status(status)]).await;
        let error = table.get::<Entity>("p", "r").await.unwrap_err();
        assert_eq!((error.status(), script.requests().len()), (Some(status), 1));
    }
}

#[tokio::test]
async fn tries_have_an_end() {
    let account = Account::open().await;
    let (table, script) = scripted(&account, vec![Step::status(503); 10]).await;
    let error = table.get::<Entity>("p", "r").await.unwrap_err();
    assert_eq!(error.service_failure().map(|failure| (failure.status, failure.attempts)), Some((503, 4)));
    assert_eq!(script.requests().len(), 4);
    assert!(!error.is_ambiguous());
    let (table, _) = scripted(&account, vec![Step::status(500); 10]).await;
    assert!(table.insert(&Entity::new("p", "r")).await.unwrap_err().is_ambiguous());
    let (table, _) = scripted(&account, vec![Step::Refuse; 10]).await;
    let error = table.get::<Entity>("p", "r").await.unwrap_err();
    assert!(matches!(&error, Error::Transport { attempts: 4, .. }) && !error.is_ambiguous(), "{error:?}");
}

/// A client whose network is the script alone, so that time can stand still.
fn offline(options: ClientOptions, steps: impl IntoIterator<Item = Step>) -> (TableClient, Script) {
    let script = Script::new(steps);
    let text = "AccountName=acct;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:1/acct";
    let options = options.transport(script.clone());
    let service = tablerock_client::TableServiceClient::from_connection_string_with(text, options).unwrap();
    (service.table(unique_name()), script)
}

#[tokio::test]
async fn a_lost_answer_is_not_forgotten_when_nothing_else_comes() {
    let account = Account::open().await;
    let (table, _) = scripted(&account, [Step::LoseAnswer, Step::Refuse, Step::Refuse, Step::Refuse]).await;
    let error = table.insert(&Entity::new("p", "r")).await.unwrap_err();
    assert!(matches!(&error, Error::Transport { source, .. } if !source.may_have_arrived()), "{error:?}");
    assert!(error.is_ambiguous());
    assert!(table.get_if_exists::<Entity>("p", "r").await.unwrap().is_some());
}

#[tokio::test]
async fn a_write_whose_answer_cannot_be_read_may_have_happened() {
    let account = Account::open().await;
    let no_etag = || [Step::status(204)];
    let (table, _) = scripted(&account, no_etag()).await;
    let ann = Entity::new("p", "r");
    let unreadable = |error: Error| {
        assert!(matches!(error, Error::Unconfirmed(_)) && error.is_ambiguous(), "{error:?}");
    };
    unreadable(table.insert(&ann).await.unwrap_err());
    let (table, _) = scripted(&account, no_etag()).await;
    unreadable(table.replace(&ann).any_version().await.unwrap_err());
    let (table, _) = scripted(&account, [Step::status(202)]).await;
    unreadable(table.transaction().insert(&ann).commit().await.unwrap_err());
    let (table, _) = scripted(&account, [Step::status(201)]).await;
    unreadable(table.insert(&ann).return_content::<Entity>().await.unwrap_err());
    let (table, _) = scripted(&account, []).await;
    unreadable(table.insert(&ann).return_content::<Never>().await.unwrap_err());
    assert!(table.get_if_exists::<Entity>("p", "r").await.unwrap().is_some());
    // A read has no effect that could be in doubt.
    let (table, _) = scripted(&account, [Step::status(200)]).await;
    let error = table.get::<Entity>("p", "r").await.unwrap_err();
    assert!(matches!(error, Error::InvalidResponse(_)) && !error.is_ambiguous(), "{error:?}");
}

/// A type that nothing fits.
#[derive(Debug)]
struct Never;

impl FromEntity for Never {
    const SELECT: Option<&'static [&'static str]> = None;

    fn from_entity(_: Entity) -> Result<Self, EntityError> {
        Err(EntityError::new("never"))
    }
}

/// The response to a group of which one operation is rejected.
fn refused_group(status: u16, headers: &str, body: &str) -> Step {
    let part = format!("HTTP/1.1 {status} Refused\r\n{headers}\r\n{body}");
    let body = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\
         Content-Transfer-Encoding: binary\r\n\r\n{part}\r\n--c--\r\n--b--\r\n"
    );
    let headers = vec![("content-type", "multipart/mixed; boundary=b".to_owned())];
    Step::Answer { status: 202, headers, body }
}

const BUSY: &str = r#"{"odata.error":{"code":"ServerBusy","message":{"lang":"en-US","value":"0:Busy."}}}"#;

#[tokio::test]
async fn a_group_that_is_refused_for_what_passes_is_tried_again() {
    let account = Account::open().await;
    for status in [408, 429, 500, 502, 503, 504] {
        let (table, script) = scripted(&account, [refused_group(status, "", BUSY)]).await;
        let group = table.transaction().insert(&Entity::new("p", "1")).insert(&Entity::new("p", "2"));
        assert_eq!(group.commit().await.unwrap().len(), 2);
        assert_eq!(script.requests().len(), 2, "{status}");
    }
    let (table, script) = scripted(&account, vec![refused_group(503, "", BUSY); 10]).await;
    let error = table.transaction().insert(&Entity::new("p", "1")).commit().await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(503), Some(ErrorCode::ServerBusy)));
    assert_eq!(script.requests().len(), 4);
    assert!(!error.is_ambiguous());
    // An error after an attempt that may have been carried out says so.
    let there = r#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"0:There."}}}"#;
    let (table, _) = scripted(&account, [refused_group(500, "", ""), refused_group(409, "", there)]).await;
    let error = table.transaction().insert(&Entity::new("p", "1")).commit().await.unwrap_err();
    assert_eq!((error.failed_index(), error.is_conflict(), error.is_ambiguous()), (Some(0), true, true));
}

#[tokio::test(start_paused = true)]
async fn a_group_waits_as_its_part_asks() {
    let final_answer = refused_group(409, "", "");
    let (table, script) = offline(ClientOptions::new(), [refused_group(503, "Retry-After: 7\r\n", BUSY), final_answer]);
    let started = Instant::now();
    let error = table.transaction().insert(&Entity::new("p", "1")).commit().await.unwrap_err();
    assert_eq!((error.status(), error.failed_index()), (Some(409), Some(0)));
    assert!((7..9).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert_eq!(script.requests().len(), 2);
}

#[tokio::test]
async fn a_bulk_blames_no_write_for_a_busy_service() {
    let account = Account::open().await;
    let writes = || (0..5).map(|row| TableOperation::insert(&Entity::new("p", row.to_string())));
    let (table, script) = scripted(&account, vec![refused_group(503, "", BUSY); 3]).await;
    table.bulk(writes()).await.into_result().unwrap();
    assert_eq!(script.requests().len(), 4);
    // When it stays busy, the bulk says so of all and presses no further.
    let (table, script) = scripted(&account, vec![refused_group(503, "", BUSY); 10]).await;
    let report = table.bulk(writes()).await;
    let told: Vec<_> = report.failures().map(|(_, error)| (error.status(), error.failed_index())).collect();
    assert_eq!(told, vec![(Some(503), None); 5]);
    assert_eq!(script.requests().len(), 4);
}

#[tokio::test]
async fn a_bulk_waits_for_a_server_that_is_busy() {
    let options = ServerOptions { partition_entities_per_second: Some(500), ..ServerOptions::default() };
    let server = Server::start(options).await;
    let script = Script::new([]);
    let options = ClientOptions::new().transport(script.clone());
    let service = TableServiceClient::from_connection_string_with(&server.connection_string(), options).unwrap();
    let table = service.table(unique_name());
    table.create().await.unwrap();
    let writes: Vec<TableOperation> =
        (0..800).map(|row| TableOperation::insert(&Entity::new("p", row.to_string()))).collect();
    assert_eq!(table.bulk(writes).await.into_result().unwrap().len(), 800);
    let groups = script.requests().iter().filter(|request| request.uri().path().ends_with("/$batch")).count();
    assert!(groups > 8, "the server was never busy");
}

#[tokio::test(start_paused = true)]
async fn the_service_is_given_the_time_that_it_asks_for() {
    let (table, script) = offline(ClientOptions::new(), [Step::retry_after(503, 7), Step::status(404)]);
    let started = Instant::now();
    assert!(table.get::<Entity>("p", "r").await.unwrap_err().is_not_found());
    assert!((7..9).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert_eq!(script.requests().len(), 2);
    // More than the call may take is not waited for.
    let (table, script) = offline(ClientOptions::new(), [Step::retry_after(503, 3600)]);
    let started = Instant::now();
    assert_eq!(table.get::<Entity>("p", "r").await.unwrap_err().status(), Some(503));
    assert_eq!((started.elapsed().as_secs(), script.requests().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn time_is_bounded_for_a_try_and_for_the_call() {
    let options = ClientOptions::new().attempt_timeout(Duration::from_secs(4)).timeout(Duration::from_secs(10));
    let (table, script) = offline(options, vec![Step::Hang; 10]);
    let started = Instant::now();
    let error = table.insert(&Entity::new("p", "r")).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }) && error.is_ambiguous(), "{error:?}");
    assert!(started.elapsed() <= Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn a_lost_answer_is_told_from_a_plain_refusal() {
    let account = Account::open().await;
    let ann = Entity::new("p", "r");
    // The insert has happened; its echo is a conflict, and says what it may be.
    let (table, _) = scripted(&account, [Step::LoseAnswer]).await;
    let error = table.insert(&ann).await.unwrap_err();
    assert_eq!((error.code(), error.is_ambiguous()), (Some(ErrorCode::EntityAlreadyExists), true));
    assert!(error.to_string().ends_with("(an earlier attempt got no response and may have succeeded)"), "{error}");
    // A try that never arrived leaves no doubt, and neither does one that was refused for being busy.
    for step in [Step::Refuse, Step::status(503)] {
        let (table, _) = scripted(&account, [Step::Deliver, step]).await;
        table.insert(&ann).await.unwrap();
        let error = table.insert(&ann).await.unwrap_err();
        assert_eq!((error.code(), error.is_ambiguous()), (Some(ErrorCode::EntityAlreadyExists), false));
    }
    // The same for conditions and deletes.
    let (table, _) = scripted(&account, [Step::Deliver, Step::LoseAnswer, Step::Deliver, Step::LoseAnswer]).await;
    let mut ann = ann;
    ann.etag = Some(table.insert(&ann).await.unwrap());
    let error = table.replace(&ann).await.unwrap_err();
    assert!(error.is_precondition_failed() && error.is_ambiguous(), "{error}");
    let (table, _) = scripted(&account, [Step::Deliver, Step::LoseAnswer]).await;
    table.insert(&ann).await.unwrap();
    let error = table.delete(&ann).any_version().await.unwrap_err();
    assert!(error.is_not_found() && error.is_ambiguous(), "{error}");
}

#[tokio::test]
async fn a_bulk_tells_of_a_lost_answer_for_the_whole_group() {
    let account = Account::open().await;
    let (table, _) = scripted(&account, [Step::LoseAnswer]).await;
    let writes: Vec<TableOperation> =
        (0..5).map(|row| TableOperation::insert(&Entity::new("p", row.to_string()))).collect();
    let report = table.bulk(writes).await;
    assert_eq!(report.failures().count(), 5);
    for (_, error) in report.failures() {
        assert_eq!((error.code(), error.is_ambiguous()), (Some(ErrorCode::EntityAlreadyExists), true), "{error}");
    }
    assert_eq!(table.query::<Entity>().all().await.unwrap().len(), 5);
}
