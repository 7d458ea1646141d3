//! The checker of queue histories rejects what must not happen, and accepts what may.

use std::time::{Duration, Instant};

use tablerock_crash::queues::{
    MessageHandle, QueueEvent, QueueHistory, QueueOperation, QueueOutcome, ReceivedMessage, check, check_drained,
};

use QueueOutcome::{Done, Rejected, Unknown};

const TIMEOUT: Duration = Duration::from_secs(30);

fn message(receipt: &str) -> MessageHandle {
    MessageHandle { id: "id".to_owned(), mark: "m".to_owned(), receipt: receipt.to_owned() }
}

/// A history that is written with times in seconds; each request takes half a second.
struct History {
    start: Instant,
    history: QueueHistory,
}

impl History {
    /// A message `m` that was put at the first second, and is visible at once.
    fn new() -> Self {
        let history = Self { start: Instant::now(), history: QueueHistory::default() };
        let (text, created) = ("m first".to_owned(), Some(message("put")));
        history.done(1, QueueOperation::Put { text, invisible_for: Duration::ZERO, created })
    }

    fn at(&self, second: u64) -> Instant {
        self.start + Duration::from_secs(second)
    }

    fn add(mut self, second: u64, operation: QueueOperation, outcome: QueueOutcome) -> Self {
        let sent = self.at(second);
        let (ended, logical_times) = (sent + Duration::from_millis(500), (second * 10, second * 10 + 5));
        self.history.events.push(QueueEvent { sent, ended, logical_times, operation, outcome });
        self
    }

    fn done(self, second: u64, operation: QueueOperation) -> Self {
        self.add(second, operation, Done)
    }

    /// The message is received, and its receipt is the second.
    fn got(self, second: u64, dequeue_count: u64) -> Self {
        self.got_as(second, dequeue_count, "m first")
    }

    fn got_as(self, second: u64, dequeue_count: u64, text: &str) -> Self {
        let (id, receipt) = ("id".to_owned(), second.to_string());
        let received = ReceivedMessage { id, receipt, dequeue_count, text: text.to_owned() };
        self.done(second, QueueOperation::Get { count: 1, invisible_for: TIMEOUT, received: vec![received] })
    }

    fn delete(self, second: u64, receipt: &str, outcome: QueueOutcome) -> Self {
        self.add(second, QueueOperation::Delete(message(receipt)), outcome)
    }

    fn update(self, second: u64, receipt: &str, invisible_for: u64, text: Option<&str>, outcome: QueueOutcome) -> Self {
        let operation = QueueOperation::Update {
            message: message(receipt),
            invisible_for: Duration::from_secs(invisible_for),
            text: text.map(str::to_owned),
            new_receipt: (outcome == Done).then(|| second.to_string()),
        };
        self.add(second, operation, outcome)
    }

    fn counted(self, second: u64, messages: u64) -> Self {
        self.done(second, QueueOperation::Count { messages })
    }

    fn is_fine(&self) -> bool {
        check(&self.history).is_empty()
    }

    /// Whether this is the one thing that is found.
    fn is_found(&self, what: &str) -> bool {
        let found = check(&self.history);
        assert!(found.len() == 1, "{found:?}");
        found[0].contains(what)
    }

    /// The same, if nothing more was in the queue from then on.
    fn is_lost(&self, since: u64) -> bool {
        let found = check_drained(&self.history, self.at(since));
        found.iter().any(|violation| violation.contains("is lost"))
    }
}

#[test]
fn a_message_that_waits_for_its_timeout_and_is_deleted_is_fine() {
    let history = History::new().got(2, 1).got(40, 2).delete(41, "40", Done);
    assert!(history.is_fine() && !history.is_lost(50));
}

#[test]
fn a_lost_message_is_found() {
    assert!(History::new().is_lost(50));
    assert!(History::new().got(2, 1).is_lost(50), "it was seen, and only once");
    assert!(History::new().delete(2, "put", Rejected).is_lost(50), "it was never deleted");
    assert!(!History::new().got(51, 1).is_lost(50));
}

#[test]
fn a_delete_without_a_response_may_have_happened() {
    let history = History::new().got(2, 1).delete(3, "2", Unknown);
    assert!(!history.is_lost(50));
    let seen_again = history.got(60, 2);
    assert!(seen_again.is_fine() && !seen_again.is_lost(50));
    assert!(seen_again.is_lost(70), "the delivery shows that the delete did not happen");
}

#[test]
fn a_message_that_comes_back_after_its_delete_is_found() {
    let history = History::new().got(2, 1).delete(3, "2", Done).got(40, 2);
    assert!(history.is_found("deleted and is back"));
    let mut history = History::new();
    history.history.restart_empty();
    assert!(history.got(40, 1).is_found("deleted earlier and is back"));
}

#[test]
fn a_message_that_two_clients_hold_at_once_is_found() {
    assert!(History::new().got(2, 1).got(20, 2).is_found("before its timeout ended"));
    assert!(History::new().got(2, 1).got(32, 2).is_fine(), "the timeout ended during the request");
}

#[test]
fn an_update_moves_the_end_of_the_timeout() {
    let shorter = History::new().got(2, 1).update(3, "2", 0, None, Done).got(4, 2);
    assert!(shorter.is_fine());
    let twice = History::new().got(2, 1).update(3, "2", 60, None, Done).update(4, "3", 0, None, Done);
    assert!(twice.got(5, 2).is_fine());
    let longer = History::new().got(2, 1).update(3, "2", 60, None, Done).got(40, 2);
    assert!(longer.is_found("before its timeout ended"));
    let unknown = History::new().got(2, 1).update(3, "2", 60, None, Unknown).got(40, 2);
    assert!(unknown.is_fine(), "either timeout may apply");
}

#[test]
fn a_dequeue_count_that_stands_still_or_goes_back_is_found() {
    assert!(History::new().got(2, 1).got(40, 1).is_found("twice with DequeueCount 1"));
    assert!(History::new().got(2, 3).got(40, 2).is_found("DequeueCount is 2, and was 3"));
    assert!(
        History::new().got(2, 1).got(40, 3).is_fine(),
        "a request without a response may have received it in between"
    );
}

#[test]
fn a_text_that_was_never_sent_is_found() {
    assert!(History::new().got_as(2, 1, "m frist").is_found("never sent"));
    let updated = || History::new().got(2, 1).update(3, "2", 0, Some("m second"), Done);
    assert!(updated().got_as(4, 2, "m second").is_fine());
    assert!(updated().got(4, 2).is_found("update is lost"));
    let unknown = || History::new().got(2, 1).update(3, "2", 0, Some("m second"), Unknown);
    assert!(unknown().got(40, 2).is_fine() && unknown().got_as(40, 2, "m second").is_fine());
    assert!(unknown().got(40, 2).got_as(80, 3, "m second").is_found("took effect after a delivery without it"));
}

#[test]
fn a_receipt_that_is_good_for_too_long_is_found() {
    let history = History::new().got(2, 1).got(40, 2).delete(50, "2", Done);
    assert!(history.is_found("had been received again"));
    let kept = History::new().got(2, 1).delete(50, "2", Done);
    assert!(kept.is_fine(), "the timeout alone does not end it");
}

#[test]
fn a_count_that_is_too_low_is_found() {
    assert!(History::new().counted(2, 0).is_found("approximate count"));
    assert!(History::new().counted(2, 5).is_fine(), "it may be too high");
    assert!(History::new().delete(2, "put", Unknown).counted(3, 0).is_fine());
}

#[test]
fn a_request_without_a_response_at_a_cut_is_unknown() {
    let history = History::new().got(2, 1).delete(3, "2", Done);
    let at = |position| History { start: history.start, history: history.history.at(position) };
    assert!(at(36).history.events.len() == 3 && !at(36).is_lost(50));
    assert!(!at(31).is_lost(50), "the delete was on its way");
    assert!(at(30).is_lost(50), "the delete had not been sent");
    assert!(!at(11).is_lost(50), "the message was on its way");
}
