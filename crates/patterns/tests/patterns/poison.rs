//! Eventually consistent transactions: an intent that cannot be carried out goes to the poison queue and blocks no other.

use std::time::Duration;

use tablerock_client::{Entity, QueueClient};
use tablerock_patterns::{Archive, WorkOutcome};

use crate::mortal::Process;
use crate::support::{Account, unique_name};

struct Company {
    current: tablerock_client::TableClient,
    archived: tablerock_client::TableClient,
    queue: QueueClient,
    archive: Archive,
}

/// A company whose archive is not there yet, so that nothing can be moved into it.
async fn company(account: &Account) -> Company {
    let (process, name) = (Process::healthy(account), unique_name());
    let (current, archived) = (account.table().await, process.tables.table(format!("{name}old")));
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let archive = Archive::new(current.clone(), archived.clone(), queue.clone(), poison);
    let archive = archive.with_intents(|intents| intents.visibility_timeout(Duration::from_secs(1)).max_attempts(2));
    queue.create().await.unwrap();
    archive.poison_queue().create().await.unwrap();
    current.insert(&Entity::new("Sales", "000123")).await.unwrap();
    Company { current, archived, queue, archive }
}

#[tokio::test]
async fn a_request_that_fails_too_often_is_poison() {
    let account = Account::open().await;
    let company = company(&account).await;
    company.archive.request("Sales", "000123").await.unwrap();
    let mut failures = 0;
    loop {
        match company.archive.work_once().await.unwrap() {
            WorkOutcome::Failed(error) => {
                assert!(error.is_not_found(), "{error}");
                failures += 1;
            }
            WorkOutcome::Nothing => tokio::time::sleep(Duration::from_millis(100)).await,
            WorkOutcome::Poisoned => break,
            WorkOutcome::Finished => panic!("there is no archive"),
        }
    }
    assert_eq!(failures, 2);
    assert_eq!(company.queue.approximate_message_count().await.unwrap(), 0);
    let poison = company.archive.poison_queue().peek_messages(32).await.unwrap();
    assert!(poison.len() == 1 && poison[0].text.contains("000123"));
    assert!(company.current.get_if_exists::<Entity>("Sales", "000123").await.unwrap().is_some());

    // After the cause is mended, the request is processed.
    company.archived.create().await.unwrap();
    assert_eq!(company.archive.redrive_poison().await.unwrap(), 1);
    assert!(matches!(company.archive.work_once().await.unwrap(), WorkOutcome::Finished));
    assert!(company.archived.get_if_exists::<Entity>("Sales", "000123").await.unwrap().is_some());
    assert_eq!(company.archive.redrive_poison().await.unwrap(), 0);
}

#[tokio::test]
async fn what_cannot_be_read_is_poison_at_once_and_holds_up_nobody() {
    let account = Account::open().await;
    let company = company(&account).await;
    company.archived.create().await.unwrap();
    company.queue.send_message("no request").await.unwrap();
    company.archive.request("Sales", "000123").await.unwrap();
    assert!(matches!(company.archive.work_once().await.unwrap(), WorkOutcome::Poisoned));
    assert!(matches!(company.archive.work_once().await.unwrap(), WorkOutcome::Finished));
    assert!(matches!(company.archive.work_once().await.unwrap(), WorkOutcome::Nothing));
    assert_eq!(company.archive.poison_queue().approximate_message_count().await.unwrap(), 1);
    assert!(company.current.get_if_exists::<Entity>("Sales", "000123").await.unwrap().is_none());
}
