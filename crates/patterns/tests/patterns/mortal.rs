//! A client that is killed at a step: from some request on, nothing gets through any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response};
use tablerock_client::transport::{BoxFuture, HyperTransport, Transport, TransportError};
use tablerock_client::{BlobServiceClient, ClientOptions, QueueServiceClient, RetryPolicy, TableServiceClient};
use tablerock_patterns::{Intents, WorkOutcome};

use crate::support::{Account, unique_name};

/// More requests than any of these patterns makes.
pub(crate) const STEPS_MAX: i64 = 16;
/// How long an intent is hidden: as short as the service allows, for the tests have to wait for it.
const INVISIBLE: Duration = Duration::from_secs(1);
const RECOVERY_MAX: Duration = Duration::from_secs(30);

/// When a client dies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Death {
    /// The number of requests that get a response before.
    pub(crate) step: i64,
    /// The request at which it dies is carried out, and its response is lost.
    pub(crate) after_sending: bool,
}

#[derive(Debug)]
struct MortalTransport {
    inner: HyperTransport,
    death: Death,
    sent: Arc<AtomicI64>,
}

impl Transport for MortalTransport {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(async move {
            let sent = self.sent.fetch_add(1, Ordering::SeqCst);
            if sent < self.death.step {
                return self.inner.send(request).await;
            }
            if sent == self.death.step && self.death.after_sending {
                self.inner.send(request).await?;
            }
            Err(TransportError::lost("killed"))
        })
    }
}

/// The services as one process sees them.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) tables: TableServiceClient,
    pub(crate) queues: QueueServiceClient,
    pub(crate) blobs: BlobServiceClient,
}

impl Process {
    pub(crate) fn healthy(account: &Account) -> Self {
        Self::with(account, ClientOptions::new)
    }

    pub(crate) fn mortal(account: &Account, death: Death) -> Self {
        let sent = Arc::new(AtomicI64::new(0));
        Self::with(account, || {
            let transport = MortalTransport { inner: HyperTransport::without_tls(), death, sent: Arc::clone(&sent) };
            ClientOptions::new().retry(RetryPolicy::none()).transport(transport)
        })
    }

    pub(crate) fn with(account: &Account, options: impl Fn() -> ClientOptions) -> Self {
        let connection = account.connection_string();
        Self {
            tables: TableServiceClient::from_connection_string_with(connection, options()).unwrap(),
            queues: QueueServiceClient::from_connection_string_with(connection, options()).unwrap(),
            blobs: BlobServiceClient::from_connection_string_with(connection, options()).unwrap(),
        }
    }
}

/// Settings with which a test does not wait long.
pub(crate) fn hasty(intents: Intents<()>) -> Intents<()> {
    intents.visibility_timeout(INVISIBLE).max_attempts(100)
}

/// Runs an act once for every step at which its process can die, and either way of dying, and has the end judged.
pub(crate) async fn killed_at_every_step<P>(
    account: &Account,
    build: impl Fn(&Process, &str) -> P,
    prepare: impl AsyncFn(&P),
    act: impl AsyncFn(&P) -> tablerock_client::Result<()>,
    judge: impl AsyncFn(&P, Death, bool),
) {
    let one = async |death: Death| {
        let name = unique_name();
        let survivor = build(&Process::healthy(account), &name);
        prepare(&survivor).await;
        let outcome = act(&build(&Process::mortal(account, death), &name)).await;
        judge(&survivor, death, outcome.is_ok()).await;
        outcome.is_err()
    };
    for after_sending in [false, true] {
        // Side by side, since most of it is waiting for intents to be seen.
        let deaths = join_all((0..STEPS_MAX).map(|step| one(Death { step, after_sending }))).await;
        let deaths = deaths.into_iter().take_while(|died| *died).count() as i64;
        assert!(0 < deaths && deaths < STEPS_MAX, "it died {deaths} times");
    }
}

/// A worker that goes on until nothing is left, however long intents stay hidden.
pub(crate) async fn recover(
    queue: &tablerock_client::QueueClient,
    work_once: impl AsyncFn() -> tablerock_client::Result<WorkOutcome>,
) {
    let recovery = async {
        loop {
            match work_once().await.unwrap() {
                WorkOutcome::Nothing if queue.approximate_message_count().await.unwrap() == 0 => return,
                WorkOutcome::Nothing => tokio::time::sleep(Duration::from_millis(50)).await,
                WorkOutcome::Finished => {}
                other => panic!("{other:?}"),
            }
        }
    };
    tokio::time::timeout(RECOVERY_MAX, recovery).await.expect("recovery takes a few seconds");
}
