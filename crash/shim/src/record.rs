//! The record of all changes, in a file that survives the process. `crash/src/disk/record.rs` reads it.

use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::control::control;
use crate::gate::{call, die};

/// The kind of a line. The meaning of its number depends on the kind.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Kind {
    Create = 1,
    /// The new length.
    Truncate = 2,
    /// The position; the bytes follow.
    Write = 3,
    /// The new path follows.
    Rename = 4,
    Unlink = 5,
    MakeDirectory = 6,
    RemoveDirectory = 7,
    /// The number of the sync.
    SyncBegin = 8,
    SyncEnd = 9,
    SyncFail = 10,
}

static FILE: AtomicI32 = AtomicI32::new(-1);
static LOCKED: AtomicBool = AtomicBool::new(false);

/// Sets the descriptor of the record.
pub(crate) fn install(descriptor: i32) {
    FILE.store(descriptor, Ordering::Release);
}

/// A lock: while it is held, no other change happens to the watched files. Not for blocking calls such as syncs.
pub(crate) struct ChangeLock(());

impl ChangeLock {
    pub(crate) fn acquire() -> Self {
        loop {
            if LOCKED.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                let lock = Self(());
                // Stored before the check: the harness sets `is_held` and then waits for `is_changing` to clear.
                control().is_changing.store(1, Ordering::SeqCst);
                if control().is_held.load(Ordering::SeqCst) == 0 {
                    return lock;
                }
            }
            // SAFETY: it takes no arguments.
            unsafe { call(libc::SYS_sched_yield, [0; 5]) };
        }
    }

    /// Appends a line: its length without these four bytes, the kind, a number, the length of the path, the path, and
    /// the rest. All numbers are little-endian.
    pub(crate) fn record(&self, kind: Kind, number: u64, path: &[u8], rest: &[u8]) {
        let file = FILE.load(Ordering::Acquire);
        if file < 0 {
            return;
        }
        let mut head = [0; 15];
        let length = (head.len() - 4 + path.len() + rest.len()) as u32;
        head[..4].copy_from_slice(&length.to_le_bytes());
        head[4] = kind as u8;
        head[5..13].copy_from_slice(&number.to_le_bytes());
        head[13..].copy_from_slice(&(path.len() as u16).to_le_bytes());
        let pieces = [head.as_slice(), path, rest]
            .map(|piece| libc::iovec { iov_base: piece.as_ptr() as *mut libc::c_void, iov_len: piece.len() });
        // SAFETY: each piece is valid for its length, and only read.
        let written =
            unsafe { call(libc::SYS_writev, [i64::from(file), pieces.as_ptr() as i64, pieces.len() as i64, 0, 0]) };
        if written != i64::from(length) + 4 {
            die(b"the record cannot be written:", written);
        }
    }
}

impl Drop for ChangeLock {
    fn drop(&mut self) {
        control().is_changing.store(0, Ordering::SeqCst);
        LOCKED.store(false, Ordering::Release);
    }
}
