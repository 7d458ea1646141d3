//! Syncs: recorded with their beginning and their end, for what is written meanwhile is not covered, and where the
//! harness wants it, refused, kept waiting, or only pretended.

use core::ffi::c_long;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::control::control;
use crate::gate::call;
use crate::paths::Path;
use crate::record::{Kind, Turn};
use crate::trap::FAILED;

/// What was written before a sync began is safe when it has ended; of what is written meanwhile nothing is known.
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
    Turn::wait().record(Kind::SyncBegin, sync, below, &[]);
    while must_wait(below) {
        pause();
    }
    let is_refused = control().is_doomed(below) || control().syncs_fail.load(Ordering::SeqCst) != 0;
    let result = if is_refused { FAILED } else { pass() };
    let end = if result == 0 { Kind::SyncEnd } else { Kind::SyncFail };
    Turn::wait().record(end, sync, below, &[]);
    result
}

/// Whether a sync of this file or folder is one that the disk only pretends to do.
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

/// Whether a sync of this file does not come back for now.
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
    // SAFETY: the time is valid, and nobody wants to know how much of it is left.
    unsafe { call(libc::SYS_nanosleep, [(&raw const time) as i64, 0, 0, 0, 0]) };
}
