//! Syncs: recorded with begin and end, because writes in between are not covered. The harness can make them fail,
//! block, or do nothing.

use core::ffi::c_long;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::control::control;
use crate::gate::call;
use crate::paths::Path;
use crate::record::{ChangeLock, Kind};
use crate::trap::FAILED;

/// Writes before the begin of a sync are durable after its end. Writes in between may or may not be.
///
/// # Safety
///
/// As for the system call of that number.
pub(crate) unsafe fn sync(file: i64, number: c_long) -> i64 {
    static SYNCS: AtomicU64 = AtomicU64::new(0);
    let path = Path::of_descriptor(file);
    let pass = || unsafe { call(number, [file, 0, 0, 0, 0]) };
    let Some(below) = path.below() else { return pass() };
    if is_ignored(file) {
        return 0;
    }
    let sync = SYNCS.fetch_add(1, Ordering::Relaxed);
    ChangeLock::acquire().record(Kind::SyncBegin, sync, below, &[]);
    while must_wait(below) {
        pause();
    }
    let must_fail = control().must_fail(below) || control().syncs_fail.load(Ordering::SeqCst) != 0;
    let result = if must_fail { FAILED } else { pass() };
    let end = if result == 0 { Kind::SyncEnd } else { Kind::SyncFail };
    ChangeLock::acquire().record(end, sync, below, &[]);
    result
}

/// Whether a sync of this file or folder does nothing.
fn is_ignored(file: i64) -> bool {
    let lies = control().syncs_lie.load(Ordering::Relaxed);
    if lies == 0 {
        return false;
    }
    // SAFETY: all fields of the structure may be zero, and the kernel fills it in.
    let is_folder = unsafe {
        let mut about: libc::stat = core::mem::zeroed();
        call(libc::SYS_fstat, [file, (&raw mut about) as i64, 0, 0, 0]) == 0
            && about.st_mode & libc::S_IFMT == libc::S_IFDIR
    };
    lies == if is_folder { 2 } else { 1 }
}

/// Whether a sync of this file blocks.
fn must_wait(below: &[u8]) -> bool {
    match control().syncs_wait.load(Ordering::SeqCst) {
        0 => false,
        1 => below.ends_with(b".jnl"),
        _ => true,
    }
}

/// Waits a few milliseconds.
fn pause() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    // SAFETY: the time is valid, and the remaining time is not requested.
    unsafe { call(libc::SYS_nanosleep, [(&raw const time) as i64, 0, 0, 0, 0]) };
}
