//! The page of memory that the harness writes and the layer reads. `crash/src/layer.rs` has the same layout.

use core::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

/// What the harness wants, each a number.
#[repr(C)]
pub(crate) struct Control {
    /// How far the time of day is to be moved, in nanoseconds.
    pub(crate) clock_offset_ns: AtomicI64,
    /// Bytes that the disk still takes; negative for no limit.
    pub(crate) free_bytes: AtomicI64,
    /// Not 0: syncs of files fail.
    pub(crate) syncs_fail: AtomicI64,
    /// Not 0: writes do a part of what they are asked to.
    pub(crate) writes_short: AtomicI64,
    /// Not 0: reads of files fail.
    pub(crate) reads_fail: AtomicI64,
    /// 1: syncs of files do nothing and report success; 2: syncs of folders. A server on such a disk loses data, and the
    /// harness must find that out.
    pub(crate) syncs_lie: AtomicI64,
    /// How many calls that change or sync something there have been.
    calls: AtomicI64,
    /// The number of the first of them that fails; negative for none.
    fail_from: AtomicI64,
    /// How many fail from there.
    fail_count: AtomicI64,
    /// Not 0: calls on journals neither count nor fail.
    spares_journals: AtomicI64,
    /// 1: syncs of journals wait; 2: all syncs do.
    pub(crate) syncs_wait: AtomicI64,
    /// Not 0: no call that changes something begins.
    pub(crate) is_held: AtomicI64,
    /// Not 0: such a call is under way, or is not written down yet.
    pub(crate) is_changing: AtomicI64,
}

static CONTROL: AtomicPtr<Control> = AtomicPtr::new(core::ptr::null_mut());

/// What holds where there is no page: nothing is moved, nothing fails.
static NOTHING: Control = Control {
    clock_offset_ns: AtomicI64::new(0),
    free_bytes: AtomicI64::new(-1),
    syncs_fail: AtomicI64::new(0),
    writes_short: AtomicI64::new(0),
    reads_fail: AtomicI64::new(0),
    syncs_lie: AtomicI64::new(0),
    calls: AtomicI64::new(0),
    fail_from: AtomicI64::new(-1),
    fail_count: AtomicI64::new(0),
    spares_journals: AtomicI64::new(0),
    syncs_wait: AtomicI64::new(0),
    is_held: AtomicI64::new(0),
    is_changing: AtomicI64::new(0),
};

/// Takes the page into use.
pub(crate) fn install(page: *mut Control) {
    CONTROL.store(page, Ordering::Release);
}

pub(crate) fn control() -> &'static Control {
    let page = CONTROL.load(Ordering::Acquire);
    // SAFETY: the page is mapped for the life of the process, is large enough, and holds nothing but atomics.
    unsafe { page.as_ref() }.unwrap_or(&NOTHING)
}

impl Control {
    /// Takes room for a write; tells how many bytes fit.
    pub(crate) fn take_room(&self, bytes: usize) -> usize {
        let wanted = i64::try_from(bytes).unwrap_or(i64::MAX);
        let take = |free: i64| (free >= 0).then(|| free - free.min(wanted));
        match self.free_bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            Ok(free) => free.min(wanted) as usize,
            Err(_) => bytes,
        }
    }

    /// Counts a call that changes or syncs this file, and tells whether it is one that fails.
    pub(crate) fn is_doomed(&self, below: &[u8]) -> bool {
        if self.spares_journals.load(Ordering::Relaxed) != 0 && below.ends_with(b".jnl") {
            return false;
        }
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let (first, count) = (self.fail_from.load(Ordering::SeqCst), self.fail_count.load(Ordering::SeqCst));
        first >= 0 && number >= first && number - first < count
    }
}
