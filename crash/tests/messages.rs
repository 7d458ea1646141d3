//! The oracle of messages rejects what must not happen, and accepts what may.

use std::time::{Duration, Instant};

use tablerock_crash::messages::{Deed, Event, Given, MessageLog, Outcome, judge, judge_drained};

const TIMEOUT: Duration = Duration::from_secs(30);

/// A log that is written with times in seconds; each request takes half a second.
struct Story {
    start: Instant,
    log: MessageLog,
}

impl Story {
    /// A message `m` that was put at the first second, and is visible at once.
    fn new() -> Self {
        let story = Self { start: Instant::now(), log: MessageLog::default() };
        let put = Deed::Put { text: "m first".to_owned(), hidden: Duration::ZERO, receipt: Some("put".to_owned()) };
        story.done(1, put)
    }

    fn at(&self, second: u64) -> Instant {
        self.start + Duration::from_secs(second)
    }

    fn add(mut self, second: u64, deed: Deed, outcome: Outcome) -> Self {
        let sent = self.at(second);
        let positions = (second * 10, second * 10 + 5);
        self.log.events.push(Event { sent, ended: sent + Duration::from_millis(500), positions, deed, outcome });
        self
    }

    fn done(self, second: u64, deed: Deed) -> Self {
        self.add(second, deed, Outcome::Done)
    }

    /// The message is given out, with a receipt of the name of the second.
    fn got(self, second: u64, dequeue_count: u64) -> Self {
        self.got_as(second, dequeue_count, "m first")
    }

    fn got_as(self, second: u64, dequeue_count: u64, text: &str) -> Self {
        let (id, receipt) = ("id".to_owned(), second.to_string());
        let given = Given { id, receipt, dequeue_count, text: text.to_owned() };
        self.done(second, Deed::Get { hidden: TIMEOUT, given: vec![given] })
    }

    fn delete(self, second: u64, receipt: &str, outcome: Outcome) -> Self {
        let deed = Deed::Delete { mark: "m".to_owned(), receipt: receipt.to_owned() };
        self.add(second, deed, outcome)
    }

    fn update(self, second: u64, receipt: &str, hidden: u64, text: Option<&str>, outcome: Outcome) -> Self {
        let deed = Deed::Update {
            mark: "m".to_owned(),
            receipt: receipt.to_owned(),
            hidden: Duration::from_secs(hidden),
            text: text.map(str::to_owned),
            new_receipt: (outcome == Outcome::Done).then(|| second.to_string()),
        };
        self.add(second, deed, outcome)
    }

    fn counted(self, second: u64, messages: u64) -> Self {
        self.done(second, Deed::Count { messages })
    }

    fn is_fine(&self) -> bool {
        judge(&self.log).is_empty()
    }

    /// Whether this is the one thing that is found.
    fn is_found(&self, what: &str) -> bool {
        let found = judge(&self.log);
        assert!(found.len() == 1, "{found:?}");
        found[0].contains(what)
    }

    /// The same, if nothing more was in the queue from then on.
    fn is_lost(&self, since: u64) -> bool {
        let found = judge_drained(&self.log, self.at(since));
        found.iter().any(|violation| violation.contains("is lost"))
    }
}

#[test]
fn a_message_that_waits_for_its_timeout_and_is_deleted_is_fine() {
    let story = Story::new().got(2, 1).got(40, 2).delete(41, "40", Outcome::Done);
    assert!(story.is_fine() && !story.is_lost(50));
}

#[test]
fn a_lost_message_is_found() {
    assert!(Story::new().is_lost(50));
    assert!(Story::new().got(2, 1).is_lost(50), "it was seen, and only once");
    assert!(Story::new().delete(2, "put", Outcome::Refused).is_lost(50), "it was never deleted");
    assert!(!Story::new().got(51, 1).is_lost(50));
}

#[test]
fn a_delete_without_an_answer_may_have_happened() {
    let story = Story::new().got(2, 1).delete(3, "2", Outcome::Lost);
    assert!(!story.is_lost(50));
    let seen_again = story.got(60, 2);
    assert!(seen_again.is_fine() && !seen_again.is_lost(50));
    assert!(seen_again.is_lost(70), "somebody saw that the delete had not happened");
}

#[test]
fn a_message_that_comes_back_after_its_delete_is_found() {
    let story = Story::new().got(2, 1).delete(3, "2", Outcome::Done).got(40, 2);
    assert!(story.is_found("deleted and is back"));
    let mut story = Story::new();
    story.log.close();
    assert!(story.got(40, 1).is_found("was gone and is back"));
}

#[test]
fn a_message_that_is_given_to_two_at_once_is_found() {
    assert!(Story::new().got(2, 1).got(20, 2).is_found("before its timeout ended"));
    assert!(Story::new().got(2, 1).got(32, 2).is_fine(), "the timeout ended while the request was under way");
}

#[test]
fn an_update_moves_the_end_of_the_timeout() {
    let shorter = Story::new().got(2, 1).update(3, "2", 0, None, Outcome::Done).got(4, 2);
    assert!(shorter.is_fine());
    let longer = Story::new().got(2, 1).update(3, "2", 60, None, Outcome::Done).got(40, 2);
    assert!(longer.is_found("before its timeout ended"));
    let open = Story::new().got(2, 1).update(3, "2", 60, None, Outcome::Lost).got(40, 2);
    assert!(open.is_fine(), "nobody knows which timeout holds");
}

#[test]
fn a_dequeue_count_that_stands_still_or_goes_back_is_found() {
    assert!(Story::new().got(2, 1).got(40, 1).is_found("twice with DequeueCount 1"));
    assert!(Story::new().got(2, 3).got(40, 2).is_found("DequeueCount is 2, and was 3"));
    assert!(Story::new().got(2, 1).got(40, 3).is_fine(), "a request that got no answer may have taken it between");
}

#[test]
fn a_text_that_is_not_what_was_sent_is_found() {
    assert!(Story::new().got_as(2, 1, "m frist").is_found("not what was sent"));
    let updated = || Story::new().got(2, 1).update(3, "2", 0, Some("m second"), Outcome::Done);
    assert!(updated().got_as(4, 2, "m second").is_fine());
    assert!(updated().got(4, 2).is_found("update is lost"));
    let open = || Story::new().got(2, 1).update(3, "2", 0, Some("m second"), Outcome::Lost);
    assert!(open().got(40, 2).is_fine() && open().got_as(40, 2, "m second").is_fine());
    assert!(open().got(40, 2).got_as(80, 3, "m second").is_found("happened after all"));
}

#[test]
fn a_receipt_that_is_good_for_too_long_is_found() {
    let story = Story::new().got(2, 1).got(40, 2).delete(50, "2", Outcome::Done);
    assert!(story.is_found("had been given out again"));
    let kept = Story::new().got(2, 1).delete(50, "2", Outcome::Done);
    assert!(kept.is_fine(), "the timeout alone does not end it");
}

#[test]
fn a_count_that_is_too_low_is_found() {
    assert!(Story::new().counted(2, 0).is_found("approximate count"));
    assert!(Story::new().counted(2, 5).is_fine(), "it may be too high");
    assert!(Story::new().delete(2, "put", Outcome::Lost).counted(3, 0).is_fine());
}

#[test]
fn what_was_not_answered_at_a_cut_is_open() {
    let story = Story::new().got(2, 1).delete(3, "2", Outcome::Done);
    let at = |position| Story { start: story.start, log: story.log.at(position) };
    assert!(at(36).log.events.len() == 3 && !at(36).is_lost(50));
    assert!(!at(31).is_lost(50), "the delete was on its way");
    assert!(at(30).is_lost(50), "the delete had not been sent");
    assert!(!at(11).is_lost(50), "the message was on its way");
}
