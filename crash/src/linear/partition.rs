//! A partition as a register: its few rows, and what reads, writes and group transactions make of them.

use super::checker::Step;

pub type Row = usize;
/// Each write has a number of its own, so a number is a version.
pub type VersionId = u32;
/// The version of each row, if there is one.
pub type PartitionState = Vec<Option<VersionId>>;

/// The `If-Match` of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Upsert,
    Any,
    Version(VersionId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    Insert(VersionId),
    Replace(VersionId, Condition),
    Delete(Condition),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Refused(u16),
    /// Nobody knows: it may have happened, been refused, or not been heard at all.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Read(Row, Option<VersionId>),
    /// A query for the whole partition.
    ReadAll(PartitionState),
    /// One change, or several as a group.
    Write(Vec<(Row, RowChange)>, Outcome),
}

impl RowChange {
    fn apply(self, current: Option<VersionId>) -> Result<Option<VersionId>, u16> {
        match self {
            RowChange::Insert(_) if current.is_some() => Err(409),
            RowChange::Insert(version) => Ok(Some(version)),
            RowChange::Replace(version, condition) => condition.check(current).map(|()| Some(version)),
            RowChange::Delete(condition) => condition.check(current).map(|()| None),
        }
    }
}

impl Condition {
    fn check(self, current: Option<VersionId>) -> Result<(), u16> {
        match (self, current) {
            (Condition::Upsert, _) | (Condition::Any, Some(_)) => Ok(()),
            (_, None) => Err(404),
            (Condition::Version(wanted), Some(current)) if wanted == current => Ok(()),
            (Condition::Version(_), Some(_)) => Err(412),
        }
    }
}

impl Step<PartitionState> for Operation {
    fn apply(&self, state: &PartitionState) -> Option<PartitionState> {
        match self {
            Operation::Read(row, found) => (state[*row] == *found).then(|| state.clone()),
            Operation::ReadAll(found) => (state == found).then(|| state.clone()),
            Operation::Write(changes, outcome) => match (after(state, changes), outcome) {
                (Ok(after), Outcome::Done | Outcome::Unknown) => Some(after),
                (Err(refusal), Outcome::Refused(status)) if refusal == *status => Some(state.clone()),
                (Err(_), Outcome::Unknown) => Some(state.clone()),
                _ => None,
            },
        }
    }
}

/// A group changes each row at most once, and all or none of them.
fn after(state: &PartitionState, changes: &[(Row, RowChange)]) -> Result<PartitionState, u16> {
    let mut after = state.clone();
    for (row, change) in changes {
        after[*row] = change.apply(state[*row])?;
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::super::{Call, check};
    use super::*;

    fn explained(operations: Vec<(u64, u64, Operation)>) -> bool {
        let call = |(called, returned, operation)| Call { called, returned: Some(returned), operation };
        check(&vec![None, None], operations.into_iter().map(call).collect()).is_ok()
    }

    fn write(changes: &[(Row, RowChange)], outcome: Outcome) -> Operation {
        Operation::Write(changes.to_vec(), outcome)
    }

    use Condition::Version;
    use Outcome::{Done, Refused};
    use RowChange::{Delete, Insert, Replace};

    #[test]
    fn of_two_conditional_writes_on_one_version_one_is_refused() {
        let history = |second| {
            vec![
                (0, 1, write(&[(0, Insert(1))], Done)),
                (2, 9, write(&[(0, Replace(2, Version(1)))], Done)),
                (2, 9, write(&[(0, Replace(3, Version(1)))], second)),
            ]
        };
        assert!(explained(history(Refused(412))));
        assert!(!explained(history(Done)), "a lost update");
    }

    #[test]
    fn two_inserts_cannot_both_succeed() {
        let history = |second| vec![(0, 9, write(&[(0, Insert(1))], Done)), (0, 9, write(&[(0, Insert(2))], second))];
        assert!(explained(history(Refused(409))));
        assert!(!explained(history(Done)));
    }

    #[test]
    fn a_group_is_never_seen_by_halves() {
        let history = |seen: PartitionState| {
            vec![
                (0, 1, write(&[(0, Insert(1)), (1, Insert(2))], Done)),
                (2, 9, write(&[(0, Replace(3, Version(1))), (1, Delete(Condition::Any))], Done)),
                (3, 4, Operation::ReadAll(seen)),
            ]
        };
        assert!(explained(history(vec![Some(1), Some(2)])));
        assert!(explained(history(vec![Some(3), None])));
        assert!(!explained(history(vec![Some(3), Some(2)])));
    }

    #[test]
    fn two_single_reads_around_a_group_agree_on_it() {
        let history = |first, second| {
            vec![
                (0, 9, write(&[(0, Insert(1)), (1, Insert(2))], Done)),
                (1, 2, Operation::Read(0, first)),
                (3, 4, Operation::Read(1, second)),
            ]
        };
        assert!(explained(history(None, Some(2))));
        assert!(!explained(history(Some(1), None)));
    }

    #[test]
    fn a_refused_group_changes_nothing() {
        let history = |seen| {
            vec![
                (0, 1, write(&[(0, Insert(1)), (1, Delete(Condition::Any))], Refused(404))),
                (2, 3, Operation::Read(0, seen)),
            ]
        };
        assert!(explained(history(None)));
        assert!(!explained(history(Some(1))));
    }

    #[test]
    fn a_refusal_needs_a_reason() {
        assert!(!explained(vec![(0, 1, write(&[(0, Insert(1))], Refused(409)))]));
        assert!(!explained(vec![(0, 1, write(&[(0, Delete(Condition::Any))], Refused(412)))]));
        assert!(explained(vec![(0, 1, write(&[(0, Delete(Condition::Any))], Refused(404)))]));
    }

    #[test]
    fn an_unknown_write_may_show_later_or_never_and_then_stays() {
        let unknown = Call { called: 0, returned: None, operation: write(&[(0, Insert(1))], Outcome::Unknown) };
        let read = |at: u64, found| Call { called: at, returned: Some(at + 1), operation: Operation::Read(0, found) };
        let empty = || vec![None, None];
        assert!(check(&empty(), vec![unknown.clone(), read(5, None), read(7, Some(1))]).is_ok());
        assert!(check(&empty(), vec![unknown.clone(), read(5, None), read(7, None)]).is_ok());
        assert!(check(&empty(), vec![unknown, read(5, Some(1)), read(7, None)]).is_err());
    }
}
