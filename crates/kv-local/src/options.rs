//! What can be set, and what holds if nobody does.

use std::time::Duration;

const MIB: u64 = 1 << 20;

/// How much memory and disk the engine may use, and how patient it is. The defaults keep a busy process below
/// 400 MB and an idle one small: nothing is allocated before it is needed.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// Blocks of tables kept in memory for reads.
    pub cache_bytes: u64,
    /// Recent writes kept in memory before they become a table. Up to five such buffers exist when the disk
    /// cannot keep up; after that, writers wait. A directory that was made with a smaller size keeps it.
    pub write_buffer_bytes: u64,
    /// Journals on disk, at least 64 MiB. More means fewer small tables, and a longer start after a crash.
    pub journal_bytes_max: u64,
    /// Commits that wait for the disk. When there are more, those who come later wait for room.
    pub queue_bytes_max: usize,
    /// Threads that turn buffers into tables and merge tables. By default one, and two where there are more than
    /// two cores: of several, fjall keeps one free by letting it spin while the others merge.
    pub worker_threads: usize,
    /// Table files kept open.
    pub open_files_max: usize,
    /// How long a dropped range rests before it is swept. Writes that were under way when the range was dropped
    /// must have landed by then, so it has to be longer than any request takes.
    pub sweep_delay: Duration,
    /// How often the engine looks whether the space of deleted records should come back now.
    pub look_every: Duration,
}

impl Default for LocalOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            cache_bytes: 64 * MIB,
            write_buffer_bytes: 16 * MIB,
            journal_bytes_max: 256 * MIB,
            queue_bytes_max: 16 << 20,
            worker_threads: if cores > 2 { 2 } else { 1 },
            open_files_max: 400,
            sweep_delay: Duration::from_secs(60),
            look_every: Duration::from_secs(15),
        }
    }
}
