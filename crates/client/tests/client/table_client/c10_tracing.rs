//! What a call leaves in a trace: which operation on which table, how often, how it ended and under which id.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tablerock_client::{ClientOptions, Entity, RetryPolicy};
use tracing::field::{Field, Visit};
use tracing::instrument::WithSubscriber as _;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{Account, Script, Step};

type Fields = BTreeMap<&'static str, String>;

/// Keeps the fields of all spans of calls, in their order.
#[derive(Debug, Clone, Default)]
struct Calls {
    last: Arc<AtomicU64>,
    spans: Arc<Mutex<BTreeMap<u64, Fields>>>,
}

struct Kept<'a>(&'a mut Fields);

impl Visit for Kept<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Calls {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name() == "storage_call"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        span.record(&mut Kept(self.spans.lock().unwrap().entry(id).or_default()));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut Kept(self.spans.lock().unwrap().entry(span.into_u64()).or_default()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_call_s_span_tells_all_but_what_is_private() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let swift = RetryPolicy::default().initial_delay(std::time::Duration::from_millis(1));
    let steps = [Step::status(503), Step::Deliver, Step::Deliver, Step::Deliver];
    let script = Script::new(steps.into_iter().chain(vec![Step::Refuse; 4]));
    let options = ClientOptions::new().retry(swift).transport(script.clone());
    let table = account.tables_with(options).table(&name);
    let calls = Calls::default();
    let ann = Entity::new("Ann Ash", "ann@example.com");
    async {
        table.insert(&ann).await.unwrap();
        assert!(table.insert(&ann).await.unwrap_err().is_conflict());
        assert!(table.transaction().insert(&ann).commit().await.unwrap_err().is_conflict());
        table.get::<Entity>("Ann Ash", "ann@example.com").await.unwrap_err();
    }
    .with_subscriber(calls.clone())
    .await;
    let spans: Vec<Fields> = calls.spans.lock().unwrap().values().cloned().collect();
    let told = |place: usize, field: &str| spans[place].get(field).map(String::as_str);
    let row = |place: usize| {
        ["otel.name", "resource", "attempts", "http.response.status_code"]
            .map(|field| told(place, field).unwrap_or_default().to_owned())
    };
    assert_eq!(row(0), ["InsertEntity", &name, "2", "204"]);
    assert_eq!(row(1), ["InsertEntity", &name, "1", "409"]);
    // The status of a group is that of the operation at fault.
    assert_eq!(row(2), ["EntityGroupTransaction", &name, "1", "409"]);
    // Attempts are traced also when no response came.
    assert_eq!(row(3), ["QueryEntity", &name, "4", ""]);
    assert!((0..3).all(|place| told(place, "az.service_request_id").is_some_and(|id| !id.is_empty())), "{spans:?}");
    assert!((0..4).all(|place| told(place, "service") == Some("table")), "{spans:?}");
    let sent = script.requests()[0].headers()["x-ms-client-request-id"].clone();
    assert_eq!(told(0, "az.client_request_id"), sent.to_str().ok());
    assert_eq!((told(0, "http.request.resend_count"), told(0, "http.request.method")), (Some("1"), Some("POST")));
    assert_eq!((told(1, "error.type"), told(3, "error.type")), (Some("EntityAlreadyExists"), Some("transport")));
    assert_eq!((told(0, "otel.status_code"), told(1, "otel.status_code")), (None, Some("ERROR")));
    assert!(told(0, "server.address").is_some() && told(0, "server.port").is_some(), "{spans:?}");
    let shown = format!("{spans:?}");
    assert!(!shown.contains("Ann") && !shown.contains("example.com"), "{shown}");
}
