//! Leases on containers and blobs: the states, what moves between them, and what they keep others from.

use tablerock_kv::{Result as Stored, TICKS_PER_SECOND};
use tablerock_protocol::blob::{LeaseAction, LeaseDuration, LeaseId};
use tablerock_protocol::{ErrorCode, ServiceError, Uuid};

use crate::fields::{FieldReader, FieldWriter};

/// The kind of resource a lease is on, which decides the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leased {
    Blob,
    Container,
}

/// A lease that was acquired, in whatever state it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    pub id: LeaseId,
    pub duration: LeaseDuration,
    /// When it ends by itself, in ticks; `None` for an infinite lease that is not broken.
    ends: Option<u64>,
    is_broken: bool,
}

/// The state of a lease at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    Available,
    Leased,
    Breaking,
    Broken,
    Expired,
}

impl LeaseState {
    /// As `x-ms-lease-state` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Leased => "leased",
            Self::Breaking => "breaking",
            Self::Broken => "broken",
            Self::Expired => "expired",
        }
    }

    /// Whether the lease keeps others from writing.
    pub fn is_locked(self) -> bool {
        matches!(self, Self::Leased | Self::Breaking)
    }
}

/// The result of a lease action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseOutcome {
    Acquired(LeaseId),
    Renewed(LeaseId),
    Changed(LeaseId),
    Released,
    /// With the seconds until the lease is broken.
    Broken(u32),
}

/// The state of what may have a lease.
pub fn state_of(lease: Option<&Lease>, now: u64) -> LeaseState {
    let Some(lease) = lease else { return LeaseState::Available };
    let is_over = lease.ends.is_some_and(|ends| now >= ends);
    match (lease.is_broken, is_over) {
        (false, false) => LeaseState::Leased,
        (false, true) => LeaseState::Expired,
        (true, false) => LeaseState::Breaking,
        (true, true) => LeaseState::Broken,
    }
}

/// Applies an action. `fresh` is the id of a new lease for which none was proposed.
pub(super) fn apply(
    lease: &mut Option<Lease>,
    action: LeaseAction,
    now: u64,
    fresh: LeaseId,
) -> Result<LeaseOutcome, ServiceError> {
    match action {
        LeaseAction::Acquire { duration, proposed } => acquire(lease, duration, proposed, now, fresh),
        LeaseAction::Renew { id } => renew(lease, id, now),
        LeaseAction::Change { id, proposed } => change(lease, id, proposed, now),
        LeaseAction::Release { id } => {
            check_id(lease.as_ref(), id)?;
            *lease = None;
            Ok(LeaseOutcome::Released)
        }
        LeaseAction::Break { period_seconds } => break_lease(lease, period_seconds, now),
    }
}

fn acquire(
    lease: &mut Option<Lease>,
    duration: LeaseDuration,
    proposed: Option<LeaseId>,
    now: u64,
    fresh: LeaseId,
) -> Result<LeaseOutcome, ServiceError> {
    let is_same = proposed.is_some() && lease.map(|lease| lease.id) == proposed;
    match state_of(lease.as_ref(), now) {
        LeaseState::Leased | LeaseState::Breaking if !is_same => return Err(ErrorCode::LeaseAlreadyPresent.into()),
        LeaseState::Breaking => return Err(ErrorCode::LeaseIsBreakingAndCannotBeAcquired.into()),
        _ => {}
    }
    let id = proposed.unwrap_or(fresh);
    *lease = Some(Lease { id, duration, ends: end_of(duration, now), is_broken: false });
    Ok(LeaseOutcome::Acquired(id))
}

fn renew(lease: &mut Option<Lease>, id: LeaseId, now: u64) -> Result<LeaseOutcome, ServiceError> {
    check_id(lease.as_ref(), id)?;
    let lease = lease.as_mut().expect("its id has been checked");
    if lease.is_broken {
        return Err(ErrorCode::LeaseIsBrokenAndCannotBeRenewed.into());
    }
    lease.ends = end_of(lease.duration, now);
    Ok(LeaseOutcome::Renewed(id))
}

fn change(lease: &mut Option<Lease>, id: LeaseId, proposed: LeaseId, now: u64) -> Result<LeaseOutcome, ServiceError> {
    let state = state_of(lease.as_ref(), now);
    let Some(lease) = lease.as_mut().filter(|_| state.is_locked()) else {
        return Err(ErrorCode::LeaseNotPresentWithLeaseOperation.into());
    };
    // A client that lost the response to its first attempt may retry it.
    let is_repeated = lease.id == proposed && state == LeaseState::Leased;
    if lease.id != id && !is_repeated {
        return Err(ErrorCode::LeaseIdMismatchWithLeaseOperation.into());
    }
    if state == LeaseState::Breaking {
        return Err(ErrorCode::LeaseIsBreakingAndCannotBeChanged.into());
    }
    lease.id = proposed;
    Ok(LeaseOutcome::Changed(proposed))
}

fn break_lease(lease: &mut Option<Lease>, period: Option<u32>, now: u64) -> Result<LeaseOutcome, ServiceError> {
    let state = state_of(lease.as_ref(), now);
    let lease = lease.as_mut().ok_or(ErrorCode::LeaseNotPresentWithLeaseOperation)?;
    let seconds_left = match (state, lease.ends) {
        (LeaseState::Leased, None) => period.unwrap_or(0),
        (LeaseState::Leased | LeaseState::Breaking, Some(ends)) => {
            let rest = u32::try_from((ends - now).div_ceil(TICKS_PER_SECOND)).unwrap_or(u32::MAX);
            period.map_or(rest, |period| period.min(rest))
        }
        _ => 0,
    };
    // A break that leaves the lease its own time keeps its end to the tick.
    let new_end = now + u64::from(seconds_left) * TICKS_PER_SECOND;
    let old_end = lease.ends.filter(|_| state.is_locked()).unwrap_or(u64::MAX);
    lease.ends = Some(new_end.min(old_end));
    lease.is_broken = true;
    Ok(LeaseOutcome::Broken(seconds_left))
}

fn check_id(lease: Option<&Lease>, id: LeaseId) -> Result<(), ServiceError> {
    let is_same = lease.is_some_and(|lease| lease.id == id);
    if is_same { Ok(()) } else { Err(ErrorCode::LeaseIdMismatchWithLeaseOperation.into()) }
}

fn end_of(duration: LeaseDuration, now: u64) -> Option<u64> {
    match duration {
        LeaseDuration::Infinite => None,
        LeaseDuration::Seconds(seconds) => Some(now + u64::from(seconds) * TICKS_PER_SECOND),
    }
}

/// Whether a write may go on: it must name the lease if there is one, and must not name one that is not there.
pub(super) fn check_write(
    lease: Option<&Lease>,
    given: Option<LeaseId>,
    now: u64,
    on: Leased,
) -> Result<(), ServiceError> {
    if given.is_none() && state_of(lease, now).is_locked() {
        return Err(match on {
            Leased::Blob => ErrorCode::LeaseIdMissing.into(),
            Leased::Container => ServiceError::with_message(
                ErrorCode::LeaseIdMissing,
                "There is currently a lease on the container and no lease ID was specified in the request.",
            ),
        });
    }
    check_read(lease, given, now, on)
}

/// Whether a read may go on: it needs no id, but one that it gives must be right.
pub(super) fn check_read(
    lease: Option<&Lease>,
    given: Option<LeaseId>,
    now: u64,
    on: Leased,
) -> Result<(), ServiceError> {
    let Some(given) = given else { return Ok(()) };
    let state = state_of(lease, now);
    match lease {
        None => Err(match on {
            Leased::Blob => ErrorCode::LeaseNotPresentWithBlobOperation.into(),
            Leased::Container => ErrorCode::LeaseNotPresentWithContainerOperation.into(),
        }),
        Some(_) if !state.is_locked() => Err(ErrorCode::LeaseLost.into()),
        Some(lease) if lease.id != given => Err(match on {
            Leased::Blob => ErrorCode::LeaseIdMismatchWithBlobOperation.into(),
            Leased::Container => ErrorCode::LeaseIdMismatchWithContainerOperation.into(),
        }),
        Some(_) => Ok(()),
    }
}

/// The lease after a write: one that has ended is removed.
pub(super) fn after_write(lease: Option<Lease>, now: u64) -> Option<Lease> {
    lease.filter(|lease| state_of(Some(lease), now).is_locked())
}

const NONE: u8 = 0;
const HELD: u8 = 1;
const BROKEN: u8 = 2;

pub(super) fn encode(lease: Option<&Lease>, out: &mut FieldWriter) {
    let Some(lease) = lease else { return out.byte(NONE) };
    out.byte(if lease.is_broken { BROKEN } else { HELD });
    out.raw(lease.id.0.as_bytes());
    out.number(match lease.duration {
        LeaseDuration::Infinite => 0,
        LeaseDuration::Seconds(seconds) => u64::from(seconds),
    });
    out.ticks(lease.ends.unwrap_or(u64::MAX));
}

pub(super) fn decode(fields: &mut FieldReader<'_>) -> Stored<Option<Lease>> {
    let is_broken = match fields.byte()? {
        NONE => return Ok(None),
        HELD => false,
        BROKEN => true,
        _ => return Err(fields.corrupt()),
    };
    let id = LeaseId(Uuid::from_slice(&fields.raw(16)?).expect("an id has sixteen bytes"));
    let duration = match fields.number()? {
        0 => LeaseDuration::Infinite,
        seconds => LeaseDuration::Seconds(u32::try_from(seconds).map_err(|_| fields.corrupt())?),
    };
    let ends = Some(fields.ticks()?).filter(|ends| *ends != u64::MAX);
    Ok(Some(Lease { id, duration, ends, is_broken }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use LeaseState::{Available, Breaking, Broken, Expired, Leased as Held};

    const NOON: u64 = 638_000_000_000_000_000;
    const SECOND: u64 = TICKS_PER_SECOND;
    const A: LeaseId = LeaseId(Uuid::from_bytes([0xaa; 16]));
    const B: LeaseId = LeaseId(Uuid::from_bytes([0xbb; 16]));
    const FRESH: LeaseId = LeaseId(Uuid::from_bytes([0xff; 16]));

    /// A lease with the id A that is in a state at noon.
    fn in_state(state: LeaseState) -> Option<Lease> {
        let lease = |ends: u64, is_broken| {
            Some(Lease { id: A, duration: LeaseDuration::Seconds(30), ends: Some(ends), is_broken })
        };
        let lease = match state {
            Available => None,
            Held => lease(NOON + 20 * SECOND, false),
            Breaking => lease(NOON + 20 * SECOND, true),
            Broken => lease(NOON - SECOND, true),
            Expired => lease(NOON - SECOND, false),
        };
        assert_eq!(state_of(lease.as_ref(), NOON), state);
        lease
    }

    /// The state after an action, or its error.
    fn after(state: LeaseState, action: LeaseAction) -> Result<LeaseState, ErrorCode> {
        let mut lease = in_state(state);
        match apply(&mut lease, action, NOON, FRESH) {
            Ok(_) => Ok(state_of(lease.as_ref(), NOON)),
            Err(error) => {
                assert_eq!(lease, in_state(state), "an error changes nothing");
                Err(error.code)
            }
        }
    }

    #[test]
    fn every_action_in_every_state_does_what_the_table_of_the_service_says() {
        use ErrorCode::*;
        let duration = LeaseDuration::Seconds(15);
        let acquire = |proposed| LeaseAction::Acquire { duration, proposed };
        let table: [(LeaseAction, [Result<LeaseState, ErrorCode>; 5]); 10] = [
            (acquire(Some(A)), [Ok(Held), Ok(Held), Err(LeaseIsBreakingAndCannotBeAcquired), Ok(Held), Ok(Held)]),
            (acquire(Some(B)), [Ok(Held), Err(LeaseAlreadyPresent), Err(LeaseAlreadyPresent), Ok(Held), Ok(Held)]),
            (acquire(None), [Ok(Held), Err(LeaseAlreadyPresent), Err(LeaseAlreadyPresent), Ok(Held), Ok(Held)]),
            (
                LeaseAction::Break { period_seconds: None },
                [Err(LeaseNotPresentWithLeaseOperation), Ok(Breaking), Ok(Breaking), Ok(Broken), Ok(Broken)],
            ),
            (
                LeaseAction::Break { period_seconds: Some(0) },
                [Err(LeaseNotPresentWithLeaseOperation), Ok(Broken), Ok(Broken), Ok(Broken), Ok(Broken)],
            ),
            (
                LeaseAction::Change { id: A, proposed: B },
                [
                    Err(LeaseNotPresentWithLeaseOperation),
                    Ok(Held),
                    Err(LeaseIsBreakingAndCannotBeChanged),
                    Err(LeaseNotPresentWithLeaseOperation),
                    Err(LeaseNotPresentWithLeaseOperation),
                ],
            ),
            (
                LeaseAction::Change { id: B, proposed: FRESH },
                [
                    Err(LeaseNotPresentWithLeaseOperation),
                    Err(LeaseIdMismatchWithLeaseOperation),
                    Err(LeaseIdMismatchWithLeaseOperation),
                    Err(LeaseNotPresentWithLeaseOperation),
                    Err(LeaseNotPresentWithLeaseOperation),
                ],
            ),
            (
                LeaseAction::Renew { id: A },
                [
                    Err(LeaseIdMismatchWithLeaseOperation),
                    Ok(Held),
                    Err(LeaseIsBrokenAndCannotBeRenewed),
                    Err(LeaseIsBrokenAndCannotBeRenewed),
                    Ok(Held),
                ],
            ),
            (LeaseAction::Renew { id: B }, [Err(LeaseIdMismatchWithLeaseOperation); 5]),
            (
                LeaseAction::Release { id: A },
                [Err(LeaseIdMismatchWithLeaseOperation), Ok(Available), Ok(Available), Ok(Available), Ok(Available)],
            ),
        ];
        for (action, outcomes) in table {
            for (state, outcome) in [Available, Held, Breaking, Broken, Expired].into_iter().zip(outcomes) {
                assert_eq!(after(state, action), outcome, "{action:?} when {state:?}");
            }
        }
    }

    #[test]
    fn breaks_never_lengthen_a_lease() {
        let seconds = |lease: &mut Option<Lease>, period_seconds| match apply(
            lease,
            LeaseAction::Break { period_seconds },
            NOON,
            FRESH,
        ) {
            Ok(LeaseOutcome::Broken(seconds)) => seconds,
            other => panic!("{other:?}"),
        };
        let infinite = Some(Lease { id: A, duration: LeaseDuration::Infinite, ends: None, is_broken: false });
        assert_eq!(seconds(&mut infinite.clone(), None), 0);
        assert_eq!(seconds(&mut infinite.clone(), Some(60)), 60);
        let mut held = in_state(Held);
        assert_eq!(seconds(&mut held, Some(60)), 20);
        assert_eq!(seconds(&mut held, Some(5)), 5);
        assert_eq!(seconds(&mut held, Some(30)), 5);
        assert_eq!(seconds(&mut held, None), 5);
        assert_eq!(state_of(held.as_ref(), NOON + 5 * SECOND), Broken);
    }

    #[test]
    fn writes_need_the_lease_and_reads_may_name_it() {
        let write = |state, given| check_write(in_state(state).as_ref(), given, NOON, Leased::Blob).err();
        let code = |error: Option<ServiceError>| error.map(|error| error.code);
        assert_eq!(code(write(Held, None)), Some(ErrorCode::LeaseIdMissing));
        assert_eq!(code(write(Breaking, Some(B))), Some(ErrorCode::LeaseIdMismatchWithBlobOperation));
        assert_eq!(code(write(Held, Some(A))), None);
        assert_eq!(code(write(Expired, Some(A))), Some(ErrorCode::LeaseLost));
        assert_eq!(code(write(Broken, None)), None);
        assert_eq!(code(write(Available, Some(A))), Some(ErrorCode::LeaseNotPresentWithBlobOperation));
        assert_eq!(check_read(in_state(Held).as_ref(), None, NOON, Leased::Blob), Ok(()));
        let container = check_write(in_state(Held).as_ref(), None, NOON, Leased::Container).unwrap_err();
        assert!(container.message.contains("container"));
        assert_eq!(after_write(in_state(Expired), NOON), None);
        assert_eq!(after_write(in_state(Held), NOON), in_state(Held));
    }

    #[test]
    fn a_lease_comes_back_from_its_record() {
        for lease in [None, in_state(Held), in_state(Broken)] {
            let mut writer = FieldWriter::new(1);
            encode(lease.as_ref(), &mut writer);
            let record = writer.finish();
            let mut fields = FieldReader::new(&record, 1, "a lease").unwrap();
            assert_eq!(decode(&mut fields).unwrap(), lease);
        }
    }
}
