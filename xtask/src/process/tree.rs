//! Ends a process together with its descendants: test runners fork, and killing only the runner leaves the rest.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command};

/// Kills the child and, where `/proc` shows them, its descendants; then waits for the child.
pub(crate) fn kill_with_descendants(child: &mut Child) {
    for pid in below(child.id(), &children_by_parent()) {
        signal("KILL", pid);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends a signal by its name without `SIG`; returns whether that worked. The shell's own `kill` does it, because
/// small systems have no program of that name.
pub(crate) fn signal(name: &str, pid: u32) -> bool {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {pid} 2>/dev/null")]).status();
    sent.is_ok_and(|status| status.success())
}

fn below(pid: u32, children: &BTreeMap<u32, Vec<u32>>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut unvisited = vec![pid];
    while let Some(parent) = unvisited.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            found.push(child);
            unvisited.push(child);
        }
    }
    found
}

/// From `/proc`; empty on systems without it.
fn children_by_parent() -> BTreeMap<u32, Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    children
}

/// The line is `pid (name) state parent ...`, and the name may itself hold brackets and spaces.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_an_odd_name() {
        assert_eq!(parent_in("77 (a) b (c)) S 12 77 77 0"), Some(12));
        assert_eq!(parent_in(""), None);
    }

    #[test]
    fn descendants_are_those_of_the_child_alone() {
        let children = [(1, vec![2, 9]), (2, vec![3]), (3, vec![4])].into();
        assert_eq!(below(2, &children), [3, 4]);
    }
}
