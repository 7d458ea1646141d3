//! The Queue service on the engine that the binary uses: random steps compared with a model, many consumers, and a restart.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tablerock_kv::{Store, SystemClock};
use tablerock_kv_local::LocalEngine;
use tablerock_testkit::queue_model::{ACCOUNT, Comparison, jobs, message, service_on, service_with_queue};

fn store_in(folder: &Path) -> Store {
    Store::new(Arc::new(LocalEngine::open(folder).expect("the folder is free")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_on_disk_does_what_the_model_does() {
    for seed in 100..103 {
        println!("seed {seed}");
        let folder = tempfile::tempdir().unwrap();
        let store = store_in(folder.path());
        let mut comparison = Comparison::new(store.clone(), seed).await;
        for _ in 0..250 {
            comparison.step().await;
        }
        store.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_message_is_given_out_once_also_across_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path());
    let service = Arc::new(service_with_queue(&store, Arc::new(SystemClock)).await);
    let mut producers = tokio::task::JoinSet::new();
    for producer in 0..8 {
        let service = service.clone();
        producers.spawn(async move {
            for number in 0..50 {
                let new = message(&format!("{producer}-{number}"));
                service.put_message(ACCOUNT, &jobs(), new).await.unwrap();
            }
        });
    }
    let mut consumers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let service = service.clone();
        consumers.spawn(async move {
            let mut texts = vec![];
            for _ in 0..20 {
                let got = service.get_messages(ACCOUNT, &jobs(), 2, 3600).await.unwrap();
                texts.extend(got.into_iter().map(|message| message.text));
            }
            texts
        });
    }
    producers.join_all().await;
    let mut seen = consumers.join_all().await.concat();
    drop(service);
    store.close().await.unwrap();
    drop(store);

    let store = store_in(folder.path());
    let service = service_on(&store, Arc::new(SystemClock)).await;
    loop {
        let got = service.get_messages(ACCOUNT, &jobs(), 32, 3600).await.unwrap();
        if got.is_empty() {
            break;
        }
        seen.extend(got.into_iter().map(|message| message.text));
    }
    let texts: HashSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), texts.len()), (400, 400), "each of them, and each once");
    assert_eq!(service.queue_metadata(ACCOUNT, &jobs()).await.unwrap().messages, 400);
    store.close().await.unwrap();
}
