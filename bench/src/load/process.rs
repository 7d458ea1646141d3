//! The system's figures about a process: the time it has computed and the memory it holds. From `/proc`; on systems
//! without it there are none.

use std::fs;
use std::time::Duration;

/// Ticks of `/proc/*/stat` per second, on every Linux that there is.
const TICKS_PER_SECOND: u64 = 100;

/// The time that all threads of a process have computed.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    cpu_time_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The time that the children of a process have computed: those that are there now, and those that have ended.
pub fn cpu_time_of_children(pid: u32) -> Duration {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = folders.filter_map(|folder| fs::read_to_string(folder.path().join("stat")).ok());
    let living =
        stats.filter(|stat| parent_in(stat) == Some(pid)).filter_map(|stat| cpu_time_in(&stat)).sum::<Duration>();
    let ended = fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| cpu_time_of_ended_in(&stat));
    living + ended.unwrap_or_default()
}

/// The time that all processes of the machine together have computed.
pub fn cpu_time_of_all() -> Option<Duration> {
    cpu_time_of_all_in(&fs::read_to_string("/proc/stat").ok()?)
}

/// The memory that a process holds now, in bytes.
pub fn memory_now(pid: u32) -> Option<u64> {
    kilobytes_in(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:")
}

/// The most memory that a process has held so far, in bytes.
pub fn memory_peak(pid: u32) -> Option<u64> {
    kilobytes_in(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM:")
}

/// The line is `pid (name) state …`, where the name may hold anything; user and system time are the 14th and 15th.
fn cpu_time_in(stat: &str) -> Option<Duration> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// The parent is the 4th field.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The times of children that have ended are the 16th and 17th.
fn cpu_time_of_ended_in(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// The first line is `cpu user nice system idle …`. Interrupts have fields of their own and belong to no process.
fn cpu_time_of_all_in(stat: &str) -> Option<Duration> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(3);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

fn kilobytes_in(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_found_behind_an_odd_name() {
        let stat = "77 (a) b (c)) S 12 77 77 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 1 2 3";
        assert_eq!(cpu_time_in(stat), Some(Duration::from_secs(3)));
        assert_eq!((parent_in(stat), cpu_time_of_ended_in(stat)), (Some(12), Some(Duration::ZERO)));
    }

    #[test]
    fn time_of_all_leaves_out_what_is_idle() {
        let stat = "cpu  100 20 80 99999 7 0 5 0 0 0\ncpu0 1 2 3 4\n";
        assert_eq!(cpu_time_of_all_in(stat), Some(Duration::from_secs(2)));
    }

    #[test]
    fn memory_is_told_in_kilobytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!((kilobytes_in(status, "VmHWM:"), kilobytes_in(status, "VmRSS:")), (Some(2 << 20), Some(1 << 20)));
        assert_eq!(kilobytes_in(status, "VmSwap:"), None);
    }
}
