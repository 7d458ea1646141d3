//! The exploration of the model, for the design that was decided and for others.

use std::collections::HashSet;

use super::{DECIDED, Design, Task, start, steps};

/// Explores every state. Returns their number, or the first violation.
fn explore(design: Design, tasks: &[Task]) -> Result<usize, String> {
    let first = start(design, tasks);
    let (mut seen, mut open) = (HashSet::from([first.clone()]), vec![first]);
    while let Some(state) = open.pop() {
        for next in steps(&state, design) {
            let next = next?;
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Ok(seen.len())
}

/// A drop, a creation in its place, and two requests through any nodes.
fn scenarios(nodes: usize) -> Vec<Vec<Task>> {
    let requests = |node| [Task::Read { node }, Task::Write { node, value: 2 }];
    let requests: Vec<Task> = (0..nodes).flat_map(requests).collect();
    let mut scenarios = vec![];
    for (at, &first) in requests.iter().enumerate() {
        for &second in &requests[at..] {
            let second = if let Task::Write { node, .. } = second { Task::Write { node, value: 3 } } else { second };
            scenarios.push(vec![Task::Drop, first, second]);
            scenarios.push(vec![Task::Drop, Task::Create, first, second]);
        }
    }
    for reader in 0..nodes {
        for node in 0..nodes {
            let write = Task::Write { node, value: 2 };
            scenarios.push(vec![Task::Revoke, write, Task::ReadByPolicy { node: reader }]);
            scenarios.push(vec![Task::Revoke, Task::Drop, write, Task::ReadByPolicy { node: reader }]);
        }
    }
    for writer in 0..nodes {
        for node in 0..nodes {
            let upsert = Task::Upsert { node: writer, value: 2 };
            for other in [Task::Read { node }, Task::Upsert { node, value: 3 }] {
                scenarios.push(vec![Task::Drop, upsert, other]);
                scenarios.push(vec![Task::Drop, Task::Create, upsert, other]);
            }
            let by_policy = Task::WriteByPolicy { node: writer, value: 3 };
            scenarios.push(vec![Task::Revoke, Task::Write { node, value: 2 }, by_policy]);
            scenarios.push(vec![Task::Revoke, Task::Drop, Task::Write { node, value: 2 }, by_policy]);
        }
    }
    scenarios
}

fn explore_all(design: Design) -> Result<usize, String> {
    scenarios(design.nodes).iter().map(|tasks| explore(design, tasks)).sum()
}

#[test]
fn no_interleaving_breaks_a_promise() {
    for nodes in [1, 2, 3] {
        let states = explore_all(Design { nodes, ..DECIDED }).unwrap();
        assert!(states > 1_000, "{states} states with {nodes} nodes");
    }
}

#[test]
fn the_model_sees_what_other_designs_break() {
    for (design, violation) in [
        (Design { trusts_hints: true, ..DECIDED }, "after its drop"),
        (Design { is_confirmed: false, ..DECIDED }, "after its drop"),
        (Design { is_one_statement: false, ..DECIDED }, "half of a swept table"),
        (Design { sweep_waits: false, ..DECIDED }, "half of a swept table"),
        (Design { fences_policies: false, ..DECIDED }, "after the revocation is shown"),
        (Design { locks_policies: false, ..DECIDED }, "after the revocation is overwritten"),
        (Design { reads_row_behind: false, ..DECIDED }, "after its drop"),
    ] {
        let error = explore_all(design).expect_err("it breaks a promise");
        assert!(error.contains(violation), "{design:?}: {error}");
    }
}
