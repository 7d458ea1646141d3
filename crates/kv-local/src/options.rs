//! Options and their defaults.

use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Limits on memory and disk, and intervals. The defaults keep a busy process below 400 MB and an idle one small: memory
/// is allocated when it is needed.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// Whether to create data where there is none. Otherwise that is [`LocationError::Absent`](crate::LocationError::Absent),
    /// and nothing is created.
    pub create_if_missing: bool,
    /// The bytes of table blocks in the cache.
    pub cache_bytes: u64,
    /// The bytes of recent writes in memory before they become a table. Up to five such buffers exist if the disk is
    /// slow; after that, writers wait. A directory that was created with a smaller size keeps it.
    pub write_buffer_bytes: u64,
    /// The bytes of journals on disk, at least 64 MiB. More means fewer small tables, and a longer start after a crash.
    pub journal_bytes_max: u64,
    /// The bytes of commits that wait for the disk. Further commits wait until there is space.
    pub queue_bytes_max: usize,
    /// Threads that flush buffers and compact tables. By default one, and two with more than two cores: of several
    /// threads, fjall keeps one free by letting it spin while the others compact.
    pub worker_threads: usize,
    /// The maximum number of open table files.
    pub open_files_max: usize,
    /// The delay between dropping and sweeping a range. Writes in progress when the range is dropped must have ended by
    /// then, so it has to be longer than any request.
    pub sweep_delay: Duration,
    /// The interval between two checks whether to reclaim the space of deleted records.
    pub garbage_check_interval: Duration,
}

impl Default for LocalOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            create_if_missing: true,
            cache_bytes: 64 * MIB,
            write_buffer_bytes: 16 * MIB,
            journal_bytes_max: 256 * MIB,
            queue_bytes_max: 16 << 20,
            worker_threads: if cores > 2 { 2 } else { 1 },
            open_files_max: 400,
            sweep_delay: Duration::from_secs(60),
            garbage_check_interval: Duration::from_secs(15),
        }
    }
}
