//! The memory page that the harness writes and the shim reads. `crash/src/shim.rs` has the same layout.

use core::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

/// The settings of the harness and the counters of the shim.
#[repr(C)]
pub(crate) struct Control {
    /// The offset of the time of day, in nanoseconds.
    pub(crate) clock_offset_ns: AtomicI64,
    /// The free space of the disk; negative for no limit.
    pub(crate) free_bytes: AtomicI64,
    /// Not 0: syncs of files fail.
    pub(crate) syncs_fail: AtomicI64,
    /// Not 0: writes are short.
    pub(crate) writes_short: AtomicI64,
    /// Not 0: reads of files fail.
    pub(crate) reads_fail: AtomicI64,
    /// 1: syncs of files do nothing and report success; 2: syncs of folders. A server on such a disk loses data, and the
    /// harness must find that.
    pub(crate) syncs_lie: AtomicI64,
    /// The number of calls so far that change or sync something.
    calls: AtomicI64,
    /// The number of the first such call that fails; negative for none.
    fail_from: AtomicI64,
    /// The number of calls that fail from there.
    fail_count: AtomicI64,
    /// Not 0: calls on journals are neither counted nor failed.
    spares_journals: AtomicI64,
    /// 1: syncs of journals block; 2: all syncs block.
    pub(crate) syncs_wait: AtomicI64,
    /// Not 0: calls that change something block before they begin.
    pub(crate) is_held: AtomicI64,
    /// Not 0: such a call is running, or is not recorded yet.
    pub(crate) is_changing: AtomicI64,
}

static CONTROL: AtomicPtr<Control> = AtomicPtr::new(core::ptr::null_mut());

/// The settings without a page: no offset, no faults.
static DEFAULT: Control = Control {
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

/// Sets the page.
pub(crate) fn install(page: *mut Control) {
    CONTROL.store(page, Ordering::Release);
}

pub(crate) fn control() -> &'static Control {
    let page = CONTROL.load(Ordering::Acquire);
    // SAFETY: the page is mapped for the life of the process, is large enough, and holds nothing but atomics.
    unsafe { page.as_ref() }.unwrap_or(&DEFAULT)
}

impl Control {
    /// Takes free space for a write. Returns the number of bytes that fit.
    pub(crate) fn take_space(&self, bytes: usize) -> usize {
        let wanted = i64::try_from(bytes).unwrap_or(i64::MAX);
        let take = |free: i64| (free >= 0).then(|| free - free.min(wanted));
        match self.free_bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            Ok(free) => free.min(wanted) as usize,
            Err(_) => bytes,
        }
    }

    /// Counts a call that changes or syncs this file. Returns whether it fails.
    pub(crate) fn must_fail(&self, below: &[u8]) -> bool {
        if self.spares_journals.load(Ordering::Relaxed) != 0 && below.ends_with(b".jnl") {
            return false;
        }
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let (first, count) = (self.fail_from.load(Ordering::SeqCst), self.fail_count.load(Ordering::SeqCst));
        first >= 0 && number >= first && number - first < count
    }
}
