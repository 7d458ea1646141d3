//! What cannot have happened to a queue: messages lost, returned, given to two at once, or changed.
//!
//! Each message has a story: how it was put, when it was given out, changed and deleted, each with the times between
//! which that happened. The rules need no order of all requests, only what is certain: that one ended before another was
//! sent, and that DequeueCount tells the order in which a message was given out.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::log::{Deed, Event, Given, MessageLog, Outcome, mark};

/// The server's clock is the machine's time of day, ours runs on its own: they may drift apart by so much in some seconds.
const DRIFT: Duration = Duration::from_millis(20);

/// All that is known about one message.
#[derive(Debug, Default)]
struct Story<'l> {
    put: Option<&'l Event>,
    /// Each time that it was given out, in the order of the log.
    sightings: Vec<(&'l Event, &'l Given)>,
    updates: Vec<&'l Event>,
    deletes: Vec<&'l Event>,
}

/// From a request on, a message is invisible for some time, and one receipt is good for it.
struct Hold<'l> {
    receipt: Option<&'l str>,
    dequeue_count: u64,
    until: Instant,
}

/// What is wrong so far.
pub fn judge(log: &MessageLog) -> Vec<String> {
    let (stories, mut violations) = stories(log);
    for (mark, story) in &stories {
        let found = [story.given_in_order(), story.given_too_early(), story.returned(), story.stale_receipt()];
        violations
            .extend(found.into_iter().chain([story.text_changed()]).flatten().map(|what| format!("{mark}: {what}")));
    }
    violations.extend(counts(log, &stories));
    violations
}

/// The same, of a queue of which everything was given out since then, after all timeouts had ended.
pub fn judge_drained(log: &MessageLog, since: Instant) -> Vec<String> {
    let mut violations = judge(log);
    let (stories, _) = stories(log);
    let lost = stories.iter().filter(|(_, story)| story.is_lost(since));
    violations.extend(lost.map(|(mark, _)| format!("{mark}: the message was acknowledged and is lost")));
    violations
}

fn stories(log: &MessageLog) -> (BTreeMap<&str, Story<'_>>, Vec<String>) {
    let mut stories: BTreeMap<&str, Story<'_>> = BTreeMap::new();
    for event in log.events.iter().filter(|event| event.outcome != Outcome::Refused) {
        match &event.deed {
            Deed::Put { text, .. } => stories.entry(mark(text)).or_default().put = Some(event),
            Deed::Get { given, .. } => {
                given.iter().for_each(|given| stories.entry(given.mark()).or_default().sightings.push((event, given)));
            }
            Deed::Update { mark, .. } => stories.entry(mark).or_default().updates.push(event),
            Deed::Delete { mark, .. } => stories.entry(mark).or_default().deletes.push(event),
            Deed::Count { .. } => {}
        }
    }
    let unknown = stories.iter().filter(|(_, story)| story.put.is_none() && !story.sightings.is_empty());
    let describe = |mark: &&str| match log.gone.contains(*mark) {
        true => format!("{mark}: the message was gone and is back"),
        false => format!("{mark}: nobody has put such a message"),
    };
    let violations = unknown.map(|(mark, _)| describe(mark)).collect();
    (stories, violations)
}

impl<'l> Story<'l> {
    /// A message is given out with a higher DequeueCount each time, so that gives the order of its sightings.
    fn given_in_order(&self) -> Option<String> {
        let mut ordered = self.sightings.clone();
        ordered.sort_by_key(|(_, given)| given.dequeue_count);
        let repeated = ordered.windows(2).find(|pair| pair[0].1.dequeue_count == pair[1].1.dequeue_count);
        if let Some(pair) = repeated {
            return Some(format!("given out twice with DequeueCount {}", pair[0].1.dequeue_count));
        }
        let mut latest: Option<(Instant, u64)> = None;
        for (event, given) in ordered {
            if let Some((sent, count)) = latest.filter(|(sent, _)| event.ended < *sent) {
                let ago = sent.saturating_duration_since(event.ended);
                return Some(format!(
                    "DequeueCount is {count}, and was {} already {ago:?} before",
                    given.dequeue_count
                ));
            }
            latest = latest.max(Some((event.sent, given.dequeue_count)));
        }
        None
    }

    /// Nobody is given a message that is still invisible because of somebody else.
    fn given_too_early(&self) -> Option<String> {
        let holds = self.holds();
        let is_early = |(event, given): &&(&Event, &Given)| {
            holds.iter().any(|hold| hold.dequeue_count < given.dequeue_count && event.ended + DRIFT < hold.until)
        };
        let (event, given) = self.sightings.iter().find(is_early)?;
        let hold = holds.iter().filter(|hold| hold.dequeue_count < given.dequeue_count).map(|hold| hold.until).max()?;
        let early = hold.saturating_duration_since(event.ended);
        Some(format!("given out with DequeueCount {}, {early:?} before its timeout ended", given.dequeue_count))
    }

    /// From each request that made the message invisible: until when nobody else can have got it.
    fn holds(&self) -> Vec<Hold<'l>> {
        let mut holds = Vec::new();
        if let Some(Event { sent, deed: Deed::Put { hidden, receipt, .. }, .. }) = self.put {
            holds.push(Hold { receipt: receipt.as_deref(), dequeue_count: 0, until: *sent + *hidden });
        }
        for (event, given) in &self.sightings {
            let Deed::Get { hidden, .. } = &event.deed else { continue };
            let (receipt, dequeue_count) = (Some(given.receipt.as_str()), given.dequeue_count);
            holds.push(Hold { receipt, dequeue_count, until: event.sent + *hidden });
        }
        // An update ends the hold whose receipt it has. If it was answered, there is a new one.
        let mut updates = self.updates.clone();
        updates.sort_by_key(|event| event.sent);
        for event in updates {
            let Deed::Update { receipt, hidden, new_receipt, .. } = &event.deed else { continue };
            let until = event.sent + *hidden;
            let Some(hold) = holds.iter_mut().find(|hold| hold.receipt == Some(receipt)) else { continue };
            hold.until = hold.until.min(until);
            let dequeue_count = hold.dequeue_count;
            if let Some(receipt) = new_receipt {
                holds.push(Hold { receipt: Some(receipt), dequeue_count, until });
            }
        }
        holds
    }

    /// What was deleted is not given out any more.
    fn returned(&self) -> Option<String> {
        let deleted =
            self.deletes.iter().filter(|event| event.outcome == Outcome::Done).map(|event| event.ended).min()?;
        let is_back = |(event, _): &&(&Event, &Given)| event.sent >= deleted;
        self.sightings.iter().find(is_back).map(|_| "the message was deleted and is back".to_owned())
    }

    /// A receipt is good until the message is given out again.
    fn stale_receipt(&self) -> Option<String> {
        let holds = self.holds();
        for event in self.updates.iter().chain(&self.deletes).filter(|event| event.outcome == Outcome::Done) {
            let (Deed::Update { receipt, .. } | Deed::Delete { receipt, .. }) = &event.deed else { continue };
            let Some(hold) = holds.iter().find(|hold| hold.receipt == Some(receipt)) else {
                return Some("a receipt was good that nobody was given".to_owned());
            };
            let is_newer = |(other, given): &&(&Event, &Given)| {
                given.dequeue_count > hold.dequeue_count && other.ended < event.sent
            };
            if self.sightings.iter().any(|sighting| is_newer(&sighting)) {
                return Some("a receipt was good although the message had been given out again".to_owned());
            }
        }
        None
    }

    /// A message has the text that was put, or the last one that it was updated with.
    fn text_changed(&self) -> Option<String> {
        self.put?;
        self.sightings.iter().find_map(|(event, given)| {
            let Some(source) = self.source(&given.text) else {
                return Some("its text is not what was sent".to_owned());
            };
            let is_newer = |other: &&&Event| {
                let is_done = other.outcome == Outcome::Done && other.ended <= event.sent && other.sent > source.sent;
                is_done && matches!(other.deed, Deed::Update { text: Some(_), .. })
            };
            if self.updates.iter().any(|other| is_newer(&other)) {
                return Some("an acknowledged update is lost".to_owned());
            }
            // Somebody looked after it was clear that no answer would come, and saw an older text.
            let saw_older = |(other, shown): &&(&Event, &Given)| {
                let is_between = other.sent >= source.ended && other.ended <= event.sent;
                is_between && self.source(&shown.text).is_some_and(|older| older.sent < source.sent)
            };
            let is_late = source.outcome == Outcome::Lost && self.sightings.iter().any(|other| saw_older(&other));
            is_late.then(|| "an update that had not happened has happened after all".to_owned())
        })
    }

    /// The request that wrote a text.
    fn source(&self, wanted: &str) -> Option<&'l Event> {
        let wrote = |event: &&&Event| match &event.deed {
            Deed::Put { text, .. } | Deed::Update { text: Some(text), .. } => text == wanted,
            _ => false,
        };
        self.put.iter().chain(&self.updates).find(wrote).copied()
    }

    fn is_lost(&self, since: Instant) -> bool {
        let was_there = self.put.is_some_and(|put| put.outcome == Outcome::Done) || !self.sightings.is_empty();
        let is_there = self.sightings.iter().any(|(event, _)| event.sent >= since);
        // A delete without an answer may have happened, unless the message was seen after that was over.
        let may_have_happened = |event: &&&Event| {
            event.outcome == Outcome::Done || !self.sightings.iter().any(|(other, _)| other.sent >= event.ended)
        };
        was_there && !is_there && !self.deletes.iter().any(|event| may_have_happened(&event))
    }

    /// Whether the message was in the queue all the time between two moments.
    fn was_there_from_to(&self, from: Instant, to: Instant) -> bool {
        let is_put = self.put.is_some_and(|put| put.outcome == Outcome::Done && put.ended <= from);
        let is_seen = self.sightings.iter().any(|(event, _)| event.ended <= from);
        (is_put || is_seen) && !self.deletes.iter().any(|event| event.sent < to)
    }
}

/// The approximate count is never below what is there.
fn counts(log: &MessageLog, stories: &BTreeMap<&str, Story<'_>>) -> Vec<String> {
    let mut violations = Vec::new();
    for event in log.events.iter().filter(|event| event.outcome == Outcome::Done) {
        let Deed::Count { messages } = &event.deed else { continue };
        let there = stories.values().filter(|story| story.was_there_from_to(event.sent, event.ended)).count() as u64;
        if *messages < there {
            violations.push(format!("the approximate count was {messages}, and {there} messages were there"));
        }
    }
    violations
}
