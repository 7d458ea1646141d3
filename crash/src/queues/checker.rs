//! The checker of queue histories: it finds messages that were lost, came back, were received twice at once, or changed.
//!
//! Each message has a timeline: its put, its deliveries, updates and deletes, each between two times. The rules need no
//! total order of all requests. They use two facts only: that one request ended before another was sent, and that
//! DequeueCount orders the deliveries of a message.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::history::{QueueEvent, QueueHistory, QueueOperation, QueueOutcome, ReceivedMessage, mark};

/// The server uses the time of day, this checker a monotonic clock. Within seconds, they may drift apart a little. Servers
/// on a database estimate its clock, with an error of half a round trip, which takes long when a machine is busy. All
/// timeouts of the histories are whole seconds.
const DRIFT: Duration = Duration::from_millis(100);

/// All events of one message.
#[derive(Debug, Default)]
struct MessageTimeline<'l> {
    put: Option<&'l QueueEvent>,
    /// In the order of the history.
    deliveries: Vec<(&'l QueueEvent, &'l ReceivedMessage)>,
    updates: Vec<&'l QueueEvent>,
    deletes: Vec<&'l QueueEvent>,
}

/// A time in which a message is invisible, and the receipt that is valid for it.
struct Claim<'l> {
    receipt: Option<&'l str>,
    dequeue_count: u64,
    since: Instant,
    until: Instant,
}

/// Returns the violations so far.
pub fn check(history: &QueueHistory) -> Vec<String> {
    let (timelines, mut violations) = timelines(history);
    for (mark, timeline) in &timelines {
        let found = [
            timeline.out_of_order(),
            timeline.received_too_early(),
            timeline.returned(),
            timeline.stale_receipt(),
            timeline.text_changed(),
        ];
        violations.extend(found.into_iter().flatten().map(|what| format!("{mark}: {what}{}", timeline.describe())));
    }
    violations.extend(counts(history, &timelines));
    violations
}

/// The same, for a queue that was drained since then, after all timeouts had ended.
pub fn check_drained(history: &QueueHistory, since: Instant) -> Vec<String> {
    let mut violations = check(history);
    let (timelines, _) = timelines(history);
    let lost = timelines.iter().filter(|(_, timeline)| timeline.is_lost(since));
    let describe = |(mark, timeline): (&&str, &MessageTimeline<'_>)| {
        format!("{mark}: the message was acknowledged and is lost{}", timeline.describe())
    };
    violations.extend(lost.map(describe));
    violations
}

fn timelines(history: &QueueHistory) -> (BTreeMap<&str, MessageTimeline<'_>>, Vec<String>) {
    let mut timelines: BTreeMap<&str, MessageTimeline<'_>> = BTreeMap::new();
    for event in history.events.iter().filter(|event| event.outcome != QueueOutcome::Rejected) {
        match &event.operation {
            QueueOperation::Put { text, .. } => timelines.entry(mark(text)).or_default().put = Some(event),
            QueueOperation::Get { received, .. } => {
                for message in received {
                    timelines.entry(message.mark()).or_default().deliveries.push((event, message));
                }
            }
            QueueOperation::Update { message, .. } => timelines.entry(&message.mark).or_default().updates.push(event),
            QueueOperation::Delete(message) => timelines.entry(&message.mark).or_default().deletes.push(event),
            QueueOperation::Count { .. } => {}
        }
    }
    let unknown = timelines.iter().filter(|(_, timeline)| timeline.put.is_none() && !timeline.deliveries.is_empty());
    let describe = |mark: &&str| match history.deleted.contains(*mark) {
        true => format!("{mark}: the message was deleted earlier and is back"),
        false => format!("{mark}: no client has put such a message"),
    };
    let violations = unknown.map(|(mark, _)| describe(mark)).collect();
    (timelines, violations)
}

impl<'l> MessageTimeline<'l> {
    /// Each delivery has a higher DequeueCount than all before it.
    fn out_of_order(&self) -> Option<String> {
        let mut ordered = self.deliveries.clone();
        ordered.sort_by_key(|(_, message)| message.dequeue_count);
        let repeated = ordered.windows(2).find(|pair| pair[0].1.dequeue_count == pair[1].1.dequeue_count);
        if let Some(pair) = repeated {
            return Some(format!("received twice with DequeueCount {}", pair[0].1.dequeue_count));
        }
        let mut latest: Option<(Instant, u64)> = None;
        for (event, message) in ordered {
            if let Some((sent, count)) = latest.filter(|(sent, _)| event.ended < *sent) {
                let earlier = sent.saturating_duration_since(event.ended);
                let higher = message.dequeue_count;
                return Some(format!("DequeueCount is {count}, and was {higher} {earlier:?} earlier"));
            }
            latest = latest.max(Some((event.sent, message.dequeue_count)));
        }
        None
    }

    /// A message is not received while it is invisible.
    fn received_too_early(&self) -> Option<String> {
        let claims = self.claims();
        self.deliveries.iter().find_map(|(event, message)| {
            let is_earlier = |claim: &&Claim| claim.dequeue_count < message.dequeue_count && claim.since <= event.ended;
            let until = claims.iter().filter(is_earlier).map(|claim| claim.until).max()?;
            let early = until.saturating_duration_since(event.ended);
            let count = message.dequeue_count;
            (early > DRIFT).then(|| format!("received with DequeueCount {count}, {early:?} before its timeout ended"))
        })
    }

    /// The claim of each request that made the message invisible.
    fn claims(&self) -> Vec<Claim<'l>> {
        let mut claims = Vec::new();
        if let Some(QueueEvent { sent, operation: QueueOperation::Put { invisible_for, created, .. }, .. }) = self.put {
            let receipt = created.as_ref().map(|message| message.receipt.as_str());
            claims.push(Claim { receipt, dequeue_count: 0, since: *sent, until: *sent + *invisible_for });
        }
        for (event, message) in &self.deliveries {
            let QueueOperation::Get { invisible_for, .. } = &event.operation else { continue };
            let (receipt, dequeue_count) = (Some(message.receipt.as_str()), message.dequeue_count);
            claims.push(Claim { receipt, dequeue_count, since: event.sent, until: event.sent + *invisible_for });
        }
        // An update ends the claim of its receipt and begins a new one. Without a response, it may have done so.
        let mut updates = self.updates.clone();
        updates.sort_by_key(|event| event.sent);
        for event in updates {
            let QueueOperation::Update { message, invisible_for, new_receipt, .. } = &event.operation else { continue };
            let until = event.sent + *invisible_for;
            let is_updated = |claim: &&mut Claim| claim.receipt == Some(message.receipt.as_str());
            let Some(claim) = claims.iter_mut().find(is_updated) else { continue };
            claim.until = claim.until.min(if event.outcome == QueueOutcome::Done { event.sent } else { until });
            let dequeue_count = claim.dequeue_count;
            if let Some(receipt) = new_receipt {
                claims.push(Claim { receipt: Some(receipt), dequeue_count, since: event.sent, until });
            }
        }
        claims
    }

    /// A deleted message is not received again.
    fn returned(&self) -> Option<String> {
        let deleted =
            self.deletes.iter().filter(|event| event.outcome == QueueOutcome::Done).map(|event| event.ended).min()?;
        let is_back = |(event, _): &&(&QueueEvent, &ReceivedMessage)| event.sent >= deleted;
        self.deliveries.iter().find(is_back).map(|_| "the message was deleted and is back".to_owned())
    }

    /// A receipt is valid until the next delivery.
    fn stale_receipt(&self) -> Option<String> {
        let claims = self.claims();
        for event in self.updates.iter().chain(&self.deletes).filter(|event| event.outcome == QueueOutcome::Done) {
            let (QueueOperation::Update { message, .. } | QueueOperation::Delete(message)) = &event.operation else {
                continue;
            };
            let Some(claim) = claims.iter().find(|claim| claim.receipt == Some(message.receipt.as_str())) else {
                return Some("a receipt was accepted that no response contained".to_owned());
            };
            let is_newer = |(other, message): &&(&QueueEvent, &ReceivedMessage)| {
                message.dequeue_count > claim.dequeue_count && other.ended < event.sent
            };
            if self.deliveries.iter().any(|delivery| is_newer(&delivery)) {
                return Some("a receipt was accepted although the message had been received again".to_owned());
            }
        }
        None
    }

    /// A message has the text of its put or of its last update.
    fn text_changed(&self) -> Option<String> {
        self.put?;
        self.deliveries.iter().find_map(|(event, message)| {
            let Some(source) = self.source(&message.text) else {
                return Some("its text was never sent".to_owned());
            };
            let is_newer = |other: &&&QueueEvent| {
                let is_done =
                    other.outcome == QueueOutcome::Done && other.ended <= event.sent && other.sent > source.sent;
                is_done && matches!(other.operation, QueueOperation::Update { text: Some(_), .. })
            };
            if self.updates.iter().any(|other| is_newer(&other)) {
                return Some("an acknowledged update is lost".to_owned());
            }
            // A delivery after the connection was lost had an older text.
            let saw_older = |(other, shown): &&(&QueueEvent, &ReceivedMessage)| {
                let is_between = other.sent >= source.ended && other.ended <= event.sent;
                is_between && self.source(&shown.text).is_some_and(|older| older.sent < source.sent)
            };
            let is_late =
                source.outcome == QueueOutcome::Unknown && self.deliveries.iter().any(|other| saw_older(&other));
            is_late.then(|| "an update took effect after a delivery without it".to_owned())
        })
    }

    /// The request that wrote a text.
    fn source(&self, wanted: &str) -> Option<&'l QueueEvent> {
        let wrote = |event: &&&QueueEvent| match &event.operation {
            QueueOperation::Put { text, .. } | QueueOperation::Update { text: Some(text), .. } => text == wanted,
            _ => false,
        };
        self.put.iter().chain(&self.updates).find(wrote).copied()
    }

    /// The timeline, a line for each request, with times in milliseconds.
    fn describe(&self) -> String {
        let mut lines: Vec<(Instant, Instant, String)> = Vec::new();
        for event in self.put.iter().chain(&self.updates).chain(&self.deletes) {
            let what = match &event.operation {
                QueueOperation::Put { invisible_for, .. } => format!("put, invisible for {invisible_for:?}"),
                QueueOperation::Update { invisible_for, text, .. } => {
                    format!("updated, invisible for {invisible_for:?}, text: {}", text.is_some())
                }
                _ => "deleted".to_owned(),
            };
            lines.push((event.sent, event.ended, format!("{what}: {:?}", event.outcome)));
        }
        for (event, message) in &self.deliveries {
            let QueueOperation::Get { invisible_for, .. } = &event.operation else { continue };
            let count = message.dequeue_count;
            let what = format!("received with DequeueCount {count}, invisible for {invisible_for:?}");
            lines.push((event.sent, event.ended, what));
        }
        lines.sort();
        let Some(first) = lines.first().map(|(sent, ..)| *sent) else { return String::new() };
        let ms = |time: &Instant| time.saturating_duration_since(first).as_millis();
        lines.iter().map(|(sent, ended, what)| format!("\n      {}-{} ms: {what}", ms(sent), ms(ended))).collect()
    }

    fn is_lost(&self, since: Instant) -> bool {
        let was_there = self.put.is_some_and(|put| put.outcome == QueueOutcome::Done) || !self.deliveries.is_empty();
        let is_there = self.deliveries.iter().any(|(event, _)| event.sent >= since);
        // A delete without a response may have happened, unless the message was received after it ended.
        let may_have_happened = |event: &&&QueueEvent| {
            event.outcome == QueueOutcome::Done || !self.deliveries.iter().any(|(other, _)| other.sent >= event.ended)
        };
        was_there && !is_there && !self.deletes.iter().any(|event| may_have_happened(&event))
    }

    /// Whether the message was in the queue from one time to another.
    fn was_there_from_to(&self, from: Instant, to: Instant) -> bool {
        let is_put = self.put.is_some_and(|put| put.outcome == QueueOutcome::Done && put.ended <= from);
        let is_seen = self.deliveries.iter().any(|(event, _)| event.ended <= from);
        (is_put || is_seen) && !self.deletes.iter().any(|event| event.sent < to)
    }
}

/// The approximate count is never too low.
fn counts(history: &QueueHistory, timelines: &BTreeMap<&str, MessageTimeline<'_>>) -> Vec<String> {
    let mut violations = Vec::new();
    for event in history.events.iter().filter(|event| event.outcome == QueueOutcome::Done) {
        let QueueOperation::Count { messages } = &event.operation else { continue };
        let there =
            timelines.values().filter(|timeline| timeline.was_there_from_to(event.sent, event.ended)).count() as u64;
        if *messages < there {
            violations.push(format!("the approximate count was {messages}, but the queue had {there} messages"));
        }
    }
    violations
}
