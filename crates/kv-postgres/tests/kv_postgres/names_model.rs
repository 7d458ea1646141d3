//! The protocol of names on many servers, as a model that is explored exhaustively for small sizes.
//!
//! One name, three clients on three servers, one database node or several with copies of the directory. Servers freeze
//! between any two steps, which is any interleaving of steps. A drop and a creation in its place, a late write, a sweep, and on
//! Citus a second phase of a commit that fails on a node and is repaired at any later time.
//!
//! The promises:
//!
//! - A read or write that begins after a drop was acknowledged does not find the table of before.
//! - A write that was acknowledged is found by each read that begins after it, unless the table was dropped.
//! - A read never shows a part of what a sweep has left.
//! - A client that was admitted by a policy that was revoked meanwhile does not see what was written after the revocation was
//!   acknowledged, and does not overwrite it.
//!
//! The same exploration finds what designs that were considered break, so the model is able to see it.

mod exploration;
mod late_writes;

/// The design that is explored.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Design {
    /// One statement reads the row and the records.
    is_one_statement: bool,
    /// The server trusts an id that it has seen, without reading the row.
    trusts_hints: bool,
    /// A change is confirmed on all nodes before it is acknowledged.
    is_confirmed: bool,
    /// A sweep begins when the drop is visible on all nodes.
    sweep_waits: bool,
    /// The row that admitted a request is compared with that of its statement.
    fences_policies: bool,
    /// A write that a policy admitted locks the row and compares it.
    locks_policies: bool,
    /// A write that does not look reads the row behind itself.
    reads_row_behind: bool,
    nodes: usize,
}

const DECIDED: Design = Design {
    is_one_statement: true,
    trusts_hints: false,
    is_confirmed: true,
    sweep_waits: true,
    fences_policies: true,
    locks_policies: true,
    reads_row_behind: true,
    nodes: 2,
};

type Id = u8;

/// The row of a name: the id, and whether the policy is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    id: Id,
    has_policy: bool,
}

/// The database. The value of an entity is 0 if there is none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Database {
    /// The row of the name as each node shows it.
    shown: Vec<Option<Row>>,
    /// A change whose second phase is open on a node.
    open: Vec<Option<Option<Row>>>,
    /// Two entities under each id, written together and swept one after the other.
    entities: [[u8; 2]; 3],
    /// The ids that were dropped, whose records a sweep deletes.
    dropped: [bool; 3],
    /// The ids whose sweep has begun.
    is_swept: [bool; 3],
    next_id: Id,
    /// The value that was written by requests that began after the revocation was acknowledged; 0 for nothing.
    written_after_revocation: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    Drop,
    /// Creates the table again, with a new id.
    Create,
    /// Revokes the policy.
    Revoke,
    /// Reads both entities through a node.
    Read {
        node: usize,
    },
    /// The same, admitted by the policy.
    ReadByPolicy {
        node: usize,
    },
    /// Writes both entities, on what it saw of them, through a node.
    Write {
        node: usize,
        value: u8,
    },
    /// Writes both entities without a look, under the id that the server knew last.
    Upsert {
        node: usize,
        value: u8,
    },
    /// Writes both entities, admitted by the policy.
    WriteByPolicy {
        node: usize,
        value: u8,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Waiting,
    /// The gate has admitted it by this row.
    Admitted(Row),
    /// Has read the row, and not yet the records.
    HasRow(Id),
    /// A write that has not committed.
    Seen {
        id: Id,
        values: [u8; 2],
    },
    /// A write without a look that has not read the row yet.
    Put(Id),
    /// Committed, and not yet acknowledged.
    Committed,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Client {
    task: Task,
    step: Step,
    /// The state that was acknowledged when the request began: the last id that was dropped or created, and the last value written.
    began: Option<Acknowledged>,
}

/// The outcomes that clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Acknowledged {
    /// The ids that are gone for certain.
    dropped: [bool; 3],
    /// The value of each id whose write was acknowledged.
    written: [u8; 3],
    /// The id whose creation was acknowledged last.
    created: Id,
    is_revoked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    database: Database,
    clients: Vec<Client>,
    acknowledged: Acknowledged,
}

fn start(design: Design, tasks: &[Task]) -> State {
    State {
        database: Database {
            shown: vec![Some(Row { id: 0, has_policy: true }); design.nodes],
            open: vec![None; design.nodes],
            entities: [[1, 1], [0, 0], [0, 0]],
            dropped: [false; 3],
            is_swept: [false; 3],
            next_id: 1,
            written_after_revocation: 0,
        },
        clients: tasks.iter().map(|&task| Client { task, step: Step::Waiting, began: None }).collect(),
        acknowledged: Acknowledged { dropped: [false; 3], written: [1, 0, 0], created: 0, is_revoked: false },
    }
}

/// The response of a finished read or write: the id that it found, and what a read shows.
struct Response {
    id: Option<Id>,
    values: Option<[u8; 2]>,
}

/// Returns the violation of a promise, if there is one.
fn judge(began: Acknowledged, response: &Response) -> Result<(), String> {
    match (response.id, response.values) {
        (Some(id), _) if began.dropped[usize::from(id)] => {
            Err(format!("id {id} is found after its drop was acknowledged"))
        }
        (Some(_), Some([first, second])) if first != second => Err("half of a swept table is shown".to_owned()),
        (Some(id), Some([value, _])) if value < began.written[usize::from(id)] => {
            Err(format!("{value} is shown after {} was acknowledged", began.written[usize::from(id)]))
        }
        (None, _) if !began.dropped[usize::from(began.created)] && began.created > 0 => {
            Err("a created table is not found".to_owned())
        }
        _ => Ok(()),
    }
}

/// All next states, each with its violation if it has one.
fn steps(state: &State, design: Design) -> Vec<Result<State, String>> {
    let mut next = vec![];
    for node in 0..design.nodes {
        if let Some(row) = state.database.open[node] {
            let mut state = state.clone();
            (state.database.shown[node], state.database.open[node]) = (row, None);
            next.push(Ok(state));
        }
    }
    for id in 0..3 {
        // A sweep begins a minute after the drop. Nothing bounds how long a server is frozen, so it may begin at once.
        let is_visible = state.database.open.iter().all(Option::is_none);
        if state.database.dropped[id] && !state.database.is_swept[id] && (is_visible || !design.sweep_waits) {
            let mut state = state.clone();
            state.database.is_swept[id] = true;
            next.push(Ok(state));
        }
        for entity in (0..2).filter(|entity| state.database.is_swept[id] && state.database.entities[id][*entity] != 0) {
            let mut state = state.clone();
            state.database.entities[id][entity] = 0;
            next.push(Ok(state));
        }
    }
    for number in 0..state.clients.len() {
        step_of(state, design, number, &mut next);
    }
    next
}

/// Commits a change of the row: on one node the second phase may stay open.
fn commit_row(
    state: &State,
    design: Design,
    number: usize,
    row: Option<Row>,
    change: impl Fn(&mut Database),
) -> Vec<State> {
    // A node with an open phase holds the row.
    if state.database.open.iter().any(Option::is_some) {
        return vec![];
    }
    let failing = if design.nodes > 1 { 0..=design.nodes } else { 0..=0 };
    failing
        .map(|failing| {
            let mut state = state.clone();
            change(&mut state.database);
            for node in 0..design.nodes {
                if design.nodes > 1 && node == failing {
                    state.database.open[node] = Some(row);
                } else {
                    state.database.shown[node] = row;
                }
            }
            state.clients[number].step = Step::Committed;
            state
        })
        .collect()
}

fn step_of(state: &State, design: Design, number: usize, next: &mut Vec<Result<State, String>>) {
    let client = state.clients[number];
    let with = |step: Step| {
        let mut state = state.clone();
        let client = &mut state.clients[number];
        client.began.get_or_insert(state.acknowledged);
        client.step = step;
        state
    };
    let began = client.began.unwrap_or(state.acknowledged);
    let respond = |mut after: State, response: Response| -> Result<State, String> {
        judge(began, &response)?;
        after.clients[number].step = Step::Done;
        Ok(after)
    };
    match (client.task, client.step) {
        (_, Step::Done) => {}
        (Task::Drop, Step::Waiting) => {
            let Some(Row { id, .. }) = state.database.shown[0] else { return };
            let change = |database: &mut Database| database.dropped[usize::from(id)] = true;
            next.extend(commit_row(state, design, number, None, change).into_iter().map(Ok));
        }
        (Task::Create, Step::Waiting) => {
            if state.database.shown[0].is_some() {
                return;
            }
            let id = state.database.next_id;
            let change = |database: &mut Database| database.next_id += 1;
            next.extend(
                commit_row(state, design, number, Some(Row { id, has_policy: true }), change).into_iter().map(Ok),
            );
        }
        (Task::Revoke, Step::Waiting) => {
            let Some(Row { id, .. }) = state.database.shown[0] else { return };
            let row = Some(Row { id, has_policy: false });
            next.extend(commit_row(state, design, number, row, |_| {}).into_iter().map(Ok));
        }
        (Task::Drop | Task::Create | Task::Revoke, Step::Committed) => {
            // The second change of the mark waits for a phase that is open.
            if design.is_confirmed && state.database.open.iter().any(Option::is_some) {
                return;
            }
            let mut after = with(Step::Done);
            match client.task {
                Task::Drop => after.acknowledged.dropped[0] = true,
                Task::Revoke => after.acknowledged.is_revoked = true,
                _ => after.acknowledged.created = state.database.next_id - 1,
            }
            next.push(Ok(after));
        }
        (Task::ReadByPolicy { node }, Step::Waiting) => match state.database.shown[node] {
            Some(row) if row.has_policy => next.push(Ok(with(Step::Admitted(row)))),
            _ => next.push(Ok(with(Step::Done))),
        },
        (Task::ReadByPolicy { node }, Step::Admitted(admitted)) => match state.database.shown[node] {
            None => next.push(Ok(with(Step::Done))),
            Some(row) if design.fences_policies && row != admitted => next.push(Ok(with(Step::Waiting))),
            Some(Row { id, .. }) => {
                let value = state.database.entities[usize::from(id)][0];
                let late = state.database.written_after_revocation;
                next.push(match late != 0 && value == late {
                    true => Err("what was written after the revocation is shown".to_owned()),
                    false => Ok(with(Step::Done)),
                });
            }
        },
        (Task::Read { node } | Task::Write { node, .. }, Step::Waiting) => {
            let row = if design.trusts_hints { Some(0) } else { state.database.shown[node].map(|row| row.id) };
            match row {
                None => next.push(respond(with(Step::Waiting), Response { id: None, values: None })),
                Some(id) if design.is_one_statement => look_at_records(state, &with, &respond, client.task, id, next),
                Some(id) => next.push(Ok(with(Step::HasRow(id)))),
            }
        }
        (Task::Read { .. } | Task::Write { .. }, Step::HasRow(id)) => {
            look_at_records(state, &with, &respond, client.task, id, next);
        }
        (Task::Write { value, .. }, Step::Seen { id, values }) => {
            if state.database.entities[usize::from(id)] == values {
                let mut after = with(Step::Done);
                after.database.entities[usize::from(id)] = [value; 2];
                after.acknowledged.written[usize::from(id)] = value;
                if began.is_revoked {
                    after.database.written_after_revocation = value;
                }
                next.push(respond(after, Response { id: Some(id), values: None }));
            } else {
                // After a conflict, everything is read again.
                next.push(Ok(with(Step::Waiting)));
            }
        }
        (Task::Upsert { node, value }, step) => {
            next.extend(late_writes::upsert(state, design, (node, value), step, &with, &respond));
        }
        (Task::WriteByPolicy { node, value }, step) => {
            next.extend(late_writes::write_by_policy(state, design, (node, value), step, &with));
        }
        (task, step) => unreachable!("{task:?} {step:?}"),
    }
}

/// Reads the records under an id: the response of a read, and what a write rests on.
fn look_at_records(
    state: &State,
    with: &impl Fn(Step) -> State,
    respond: &impl Fn(State, Response) -> Result<State, String>,
    task: Task,
    id: Id,
    next: &mut Vec<Result<State, String>>,
) {
    let values = state.database.entities[usize::from(id)];
    next.push(match task {
        Task::Read { .. } => respond(with(Step::Done), Response { id: Some(id), values: Some(values) }),
        _ => Ok(with(Step::Seen { id, values })),
    });
}
