//! The time of day with an offset. The monotonic clock is not changed.

use core::sync::atomic::Ordering;

use crate::control::control;

const SECOND_NS: i64 = 1_000_000_000;

/// Replaces the C library's function of this name.
///
/// # Safety
///
/// `time` must be null or point to a `timespec`, as for the function that this replaces.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "it is reached by its name, from outside")]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    // SAFETY: the caller's pointer is passed on as it is.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) } as libc::c_int;
    let offset = control().clock_offset_ns.load(Ordering::Relaxed);
    if result != 0 || clock != libc::CLOCK_REALTIME || offset == 0 {
        return result;
    }
    // SAFETY: the kernel has just written there.
    if let Some(time) = unsafe { time.as_mut() } {
        let moved = i128::from(time.tv_sec) * i128::from(SECOND_NS) + i128::from(time.tv_nsec) + i128::from(offset);
        time.tv_sec = moved.div_euclid(i128::from(SECOND_NS)) as i64;
        time.tv_nsec = moved.rem_euclid(i128::from(SECOND_NS)) as i64;
    }
    result
}
