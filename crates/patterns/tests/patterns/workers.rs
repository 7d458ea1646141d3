//! Workers run until they are shut down, through errors and poison.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tablerock_client::{Entity, Error};
use tablerock_patterns::{Claimed, Intents, WorkOutcome};

use crate::killed::{all, jones, queued};
use crate::killed_large::{blob_count, large, with_photo};
use crate::mortal::{Death, Process, hasty};
use crate::support::{Account, unique_name};
use crate::versions::patterns;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Step {
    number: usize,
}

async fn intents(account: &Account) -> Intents<Step> {
    let (process, name) = (Process::healthy(account), unique_name());
    let intents = Intents::new(process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    intents.create_if_not_exists().await.unwrap();
    intents.visibility_timeout(Duration::from_secs(1)).max_attempts(2)
}

#[tokio::test]
async fn a_worker_performs_all_intents_and_stops_when_it_is_shut_down() {
    let account = Account::open().await;
    let intents = intents(&account).await;
    for number in 0..5 {
        intents.enqueue(&Step { number }).await.unwrap();
    }
    let done = Arc::new(AtomicUsize::new(0));
    let perform = |step: Step| {
        let done = Arc::clone(&done);
        async move {
            // One of them fails for ever.
            if step.number == 3 {
                return Err(Error::Invalid("broken".to_owned()));
            }
            done.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    };
    let shutdown = async {
        while intents.poison_queue().approximate_message_count().await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let run = intents.worker(perform).max_delay(Duration::from_millis(300)).run(shutdown);
    let counts = tokio::time::timeout(Duration::from_secs(60), run).await.unwrap();
    assert_eq!((counts.finished, counts.failed, counts.poisoned, done.load(Ordering::SeqCst)), (4, 2, 1, 4));

    // The poison is retried after its cause is mended.
    assert_eq!(intents.redrive_poison().await.unwrap(), 1);
    let Claimed::Intent(pending) = intents.claim().await.unwrap() else { panic!("it is in the queue again") };
    assert_eq!(pending.intent.number, 3);
    intents.finish(pending).await.unwrap();
}

/// A worker can be a task of its own, and goes on while its queue does not exist.
#[tokio::test]
async fn a_worker_goes_on_through_errors_of_the_queue() {
    let account = Account::open().await;
    let across = patterns(&account).await.across;
    let process = Process::healthy(&account);
    let name = across.table().name().to_owned();
    process.queues.queue(&name).delete_queue().await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = across.clone();
    let worker = tokio::spawn(async move {
        worker.worker().max_delay(Duration::from_millis(300)).run(async { drop(stopped.await) }).await
    });
    tokio::time::sleep(Duration::from_millis(600)).await;
    process.queues.queue(&name).create().await.unwrap();

    // A writer dies between the entity and its copy.
    let mortal = Process::mortal(&account, Death { step: 3, after_sending: false });
    let dead = tablerock_patterns::CopiesAcrossPartitions::new(
        mortal.tables.table(&name),
        mortal.queues.queue(&name),
        mortal.queues.queue(format!("{name}-poison")),
    );
    let dead = dead.index("email", crate::killed::email).with_intents(hasty);
    dead.insert(&jones("a@contoso.com")).await.unwrap();
    assert_eq!(across.verify().await.unwrap().missing, 1);
    for _ in 0..200 {
        if across.verify().await.unwrap().is_consistent() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop.send(()).unwrap();
    let counts = tokio::time::timeout(Duration::from_secs(30), worker).await.unwrap().unwrap();
    assert!(counts.failed > 0 && counts.finished == 1, "{counts:?}");
    assert!(across.verify().await.unwrap().is_consistent());
}

/// The blobs of a dead writer are found by the intent's own id, which survives the poison queue.
#[tokio::test]
async fn an_intent_of_a_large_entity_survives_the_poison_queue() {
    let account = Account::open().await;
    let name = unique_name();
    let people = queued(large)(&Process::healthy(&account), &name);
    people.piece.create_if_not_exists().await.unwrap();
    let death = Death { step: 6, after_sending: false };
    let dead = queued(large)(&Process::mortal(&account, death), &name);
    dead.piece.put(&with_photo(1)).await.unwrap_err();
    assert!(blob_count(&people).await > 0 && all(&people.table).await.len() == 1);

    // The message goes to the poison queue and back, as one that failed too often does.
    let message = loop {
        match people.queue.receive_message().await.unwrap() {
            Some(message) => break message,
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    people.piece.poison_queue().send_message(&message.text).await.unwrap();
    people.queue.delete_message(&message).await.unwrap();
    assert_eq!(people.piece.redrive_poison().await.unwrap(), 1);
    assert!(matches!(people.piece.work_once().await.unwrap(), WorkOutcome::Finished));
    assert_eq!((blob_count(&people).await, all(&people.table).await), (0, Vec::<Entity>::new()));
}
