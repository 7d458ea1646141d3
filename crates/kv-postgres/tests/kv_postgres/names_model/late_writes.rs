//! Writes that land late: those that do not look first, and those that a policy admitted.

use super::{Design, Response, State, Step};

/// A write without a look: it lands under the id that the server knew last, and then reads the row. The first id is 0.
pub(super) fn upsert(
    state: &State,
    design: Design,
    (node, value): (usize, u8),
    step: Step,
    with: &impl Fn(Step) -> State,
    respond: &impl Fn(State, Response) -> Result<State, String>,
) -> Vec<Result<State, String>> {
    let hint = match step {
        Step::HasRow(id) => id,
        Step::Put(id) => {
            let mut after = with(Step::Done);
            let row = state.database.shown[node].map(|row| row.id);
            if !design.reads_row_behind || row == Some(id) {
                after.acknowledged.written[usize::from(id)] = value;
                return vec![respond(after, Response { id: Some(id), values: None })];
            }
            return vec![match row {
                None => respond(after, Response { id: None, values: None }),
                Some(other) => Ok(with(Step::HasRow(other))),
            }];
        }
        _ => 0,
    };
    // Its own statement rejects a later version. What follows then is a write with a look.
    if state.database.entities[usize::from(hint)][0] >= value {
        return vec![Ok(with(Step::Done))];
    }
    let mut after = with(Step::Put(hint));
    after.database.entities[usize::from(hint)] = [value; 2];
    vec![Ok(after)]
}

/// A write that a policy admitted: its transaction locks the row on its node, and waits there for an open phase.
pub(super) fn write_by_policy(
    state: &State,
    design: Design,
    (node, value): (usize, u8),
    step: Step,
    with: &impl Fn(Step) -> State,
) -> Vec<Result<State, String>> {
    let Step::Admitted(admitted) = step else {
        return match state.database.shown[node] {
            Some(row) if row.has_policy => vec![Ok(with(Step::Admitted(row)))],
            _ => vec![Ok(with(Step::Done))],
        };
    };
    if design.locks_policies {
        if state.database.open[node].is_some() {
            return vec![];
        }
        if state.database.shown[node] != Some(admitted) {
            return vec![Ok(with(Step::Done))];
        }
    }
    let id = usize::from(admitted.id);
    let late = state.database.written_after_revocation;
    if late != 0 && state.database.entities[id][0] == late {
        return vec![Err("what was written after the revocation is overwritten".to_owned())];
    }
    let mut after = with(Step::Done);
    after.database.entities[id] = [value; 2];
    vec![Ok(after)]
}
