//! The machine that the numbers come from, as its system describes it. What a system does not tell is "unknown".

use std::fs;
use std::path::Path;
use std::thread;

use crate::Result;
use crate::report::micros;
use crate::report::sync_time;

#[derive(Debug, Clone)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory: String,
    pub kernel: String,
    pub disk: String,
    /// How long one small write takes to be durable.
    pub sync: String,
}

impl Machine {
    /// `work` lies on the disk that was measured.
    pub fn look(work: &Path) -> Result<Self> {
        let syncs = sync_time::measure(work)?;
        let [p50, p99] = [0.5, 0.99].map(|share| syncs.percentile(share).map_or_else(unknown, micros));
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Ok(Self {
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(unknown),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory: memory_in(&read("/proc/meminfo")).unwrap_or_else(unknown),
            kernel: match read("/proc/sys/kernel/osrelease").trim() {
                "" => std::env::consts::OS.to_owned(),
                release => format!("Linux {release}"),
            },
            disk: disk_of(work, &read("/proc/mounts")).unwrap_or_else(unknown),
            sync: format!("{p50}, in one of 100 cases {p99} or more"),
        })
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.into_iter().find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim().to_owned())
}

fn memory_in(meminfo: &str) -> Option<String> {
    let kilobytes: f64 = field(meminfo, "MemTotal")?.split(' ').next()?.parse().ok()?;
    Some(format!("{:.1} GiB", kilobytes / f64::from(1 << 20)))
}

/// The file system and the device below the longest mount point that leads to a path.
fn disk_of(path: &Path, mounts: &str) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.next()?, words.next()?))
    });
    let leading = mounts.filter(|(_, point, _)| path.starts_with(point));
    let (device, _, file_system) = leading.max_by_key(|(_, point, _)| point.len())?;
    Some(format!("{file_system} on {}", device_kind(device)))
}

fn device_kind(device: &str) -> String {
    let Some(name) = device.strip_prefix("/dev/") else { return device.to_owned() };
    let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_rotating =
        fs::read_to_string(format!("/sys/block/{disk}/queue/rotational")).is_ok_and(|told| told.trim() == "1");
    match name {
        // What is behind it only the host knows.
        name if name.starts_with("vd") => "a virtual disk (virtio)".to_owned(),
        name if name.starts_with("nvme") => "NVMe".to_owned(),
        _ if is_rotating => format!("a rotating disk ({name})"),
        _ => format!("a solid-state disk ({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_and_memory_are_found() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 3.0 GHz\nprocessor\t: 1\nmodel name\t: Other\n";
        assert_eq!(field(cpuinfo, "model name").as_deref(), Some("Some CPU @ 3.0 GHz"));
        assert_eq!(memory_in("MemTotal:       16777216 kB\n").as_deref(), Some("16.0 GiB"));
    }

    #[test]
    fn the_nearest_mount_point_tells_the_disk() {
        let here = fs::canonicalize(".").unwrap();
        let mounts = format!("/dev/vda1 / ext4 rw 0 0\n/dev/nvme0n1 {} xfs rw 0 0\n", here.display());
        assert_eq!(disk_of(&here, &mounts).as_deref(), Some("xfs on NVMe"));
        assert_eq!(disk_of(&here, "/dev/vda1 / ext4 rw 0 0").as_deref(), Some("ext4 on a virtual disk (virtio)"));
    }
}
