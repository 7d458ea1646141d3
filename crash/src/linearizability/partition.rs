//! The sequential specification of a partition: reads, writes and group transactions on a few rows.

use super::checker::SequentialSpec;

pub type Row = usize;
/// Each write has a unique number, which identifies the version.
pub type VersionId = u32;
/// The version of each row, if there is one.
pub type PartitionState = Vec<Option<VersionId>>;

/// The `If-Match` of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCondition {
    Upsert,
    Any,
    Version(VersionId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    Insert(VersionId),
    Replace(VersionId, RowCondition),
    Delete(RowCondition),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    Done,
    Rejected(u16),
    /// It took effect, was rejected, or never arrived.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionOperation {
    Read(Row, Option<VersionId>),
    /// A query of the whole partition.
    ReadAll(PartitionState),
    /// One change, or several as a group.
    Write(Vec<(Row, RowChange)>, WriteOutcome),
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

impl RowCondition {
    fn check(self, current: Option<VersionId>) -> Result<(), u16> {
        match (self, current) {
            (RowCondition::Upsert, _) | (RowCondition::Any, Some(_)) => Ok(()),
            (_, None) => Err(404),
            (RowCondition::Version(wanted), Some(current)) if wanted == current => Ok(()),
            (RowCondition::Version(_), Some(_)) => Err(412),
        }
    }
}

impl SequentialSpec<PartitionState> for PartitionOperation {
    fn apply(&self, state: &PartitionState) -> Option<PartitionState> {
        match self {
            PartitionOperation::Read(row, found) => (state[*row] == *found).then(|| state.clone()),
            PartitionOperation::ReadAll(found) => (state == found).then(|| state.clone()),
            PartitionOperation::Write(changes, outcome) => match (after(state, changes), outcome) {
                (Ok(after), WriteOutcome::Done | WriteOutcome::Unknown) => Some(after),
                (Err(expected), WriteOutcome::Rejected(status)) if expected == *status => Some(state.clone()),
                (Err(_), WriteOutcome::Unknown) => Some(state.clone()),
                _ => None,
            },
        }
    }
}

/// A group changes each row at most once, and all rows or none.
fn after(state: &PartitionState, changes: &[(Row, RowChange)]) -> Result<PartitionState, u16> {
    let mut after = state.clone();
    for (row, change) in changes {
        after[*row] = change.apply(state[*row])?;
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::super::{Invocation, check};
    use super::*;

    fn is_linearizable(operations: Vec<(u64, u64, PartitionOperation)>) -> bool {
        let call = |(called, returned, operation)| Invocation { called, returned: Some(returned), operation };
        check(&vec![None, None], operations.into_iter().map(call).collect()).is_ok()
    }

    fn write(changes: &[(Row, RowChange)], outcome: WriteOutcome) -> PartitionOperation {
        PartitionOperation::Write(changes.to_vec(), outcome)
    }

    use RowChange::{Delete, Insert, Replace};
    use RowCondition::Version;
    use WriteOutcome::{Done, Rejected};

    #[test]
    fn of_two_conditional_writes_on_one_version_one_is_refused() {
        let history = |second| {
            vec![
                (0, 1, write(&[(0, Insert(1))], Done)),
                (2, 9, write(&[(0, Replace(2, Version(1)))], Done)),
                (2, 9, write(&[(0, Replace(3, Version(1)))], second)),
            ]
        };
        assert!(is_linearizable(history(Rejected(412))));
        assert!(!is_linearizable(history(Done)), "a lost update");
    }

    #[test]
    fn two_inserts_cannot_both_succeed() {
        let history = |second| vec![(0, 9, write(&[(0, Insert(1))], Done)), (0, 9, write(&[(0, Insert(2))], second))];
        assert!(is_linearizable(history(Rejected(409))));
        assert!(!is_linearizable(history(Done)));
    }

    #[test]
    fn a_group_is_never_seen_by_halves() {
        let history = |seen: PartitionState| {
            vec![
                (0, 1, write(&[(0, Insert(1)), (1, Insert(2))], Done)),
                (2, 9, write(&[(0, Replace(3, Version(1))), (1, Delete(RowCondition::Any))], Done)),
                (3, 4, PartitionOperation::ReadAll(seen)),
            ]
        };
        assert!(is_linearizable(history(vec![Some(1), Some(2)])));
        assert!(is_linearizable(history(vec![Some(3), None])));
        assert!(!is_linearizable(history(vec![Some(3), Some(2)])));
    }

    #[test]
    fn two_single_reads_around_a_group_agree_on_it() {
        let history = |first, second| {
            vec![
                (0, 9, write(&[(0, Insert(1)), (1, Insert(2))], Done)),
                (1, 2, PartitionOperation::Read(0, first)),
                (3, 4, PartitionOperation::Read(1, second)),
            ]
        };
        assert!(is_linearizable(history(None, Some(2))));
        assert!(!is_linearizable(history(Some(1), None)));
    }

    #[test]
    fn a_refused_group_changes_nothing() {
        let history = |seen| {
            vec![
                (0, 1, write(&[(0, Insert(1)), (1, Delete(RowCondition::Any))], Rejected(404))),
                (2, 3, PartitionOperation::Read(0, seen)),
            ]
        };
        assert!(is_linearizable(history(None)));
        assert!(!is_linearizable(history(Some(1))));
    }

    #[test]
    fn a_refusal_needs_a_reason() {
        assert!(!is_linearizable(vec![(0, 1, write(&[(0, Insert(1))], Rejected(409)))]));
        assert!(!is_linearizable(vec![(0, 1, write(&[(0, Delete(RowCondition::Any))], Rejected(412)))]));
        assert!(is_linearizable(vec![(0, 1, write(&[(0, Delete(RowCondition::Any))], Rejected(404)))]));
    }

    #[test]
    fn an_unknown_write_may_show_later_or_never_and_then_stays() {
        let unknown =
            Invocation { called: 0, returned: None, operation: write(&[(0, Insert(1))], WriteOutcome::Unknown) };
        let read = |at: u64, found| Invocation {
            called: at,
            returned: Some(at + 1),
            operation: PartitionOperation::Read(0, found),
        };
        let empty = || vec![None, None];
        assert!(check(&empty(), vec![unknown.clone(), read(5, None), read(7, Some(1))]).is_ok());
        assert!(check(&empty(), vec![unknown.clone(), read(5, None), read(7, None)]).is_ok());
        assert!(check(&empty(), vec![unknown, read(5, Some(1)), read(7, None)]).is_err());
    }
}
