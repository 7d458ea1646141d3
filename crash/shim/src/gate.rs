//! System calls of the shim itself, which its filter allows.

use core::ffi::c_long;

/// The sixth argument that marks calls of the shim. No intercepted call has six arguments.
pub(crate) const PASS: u32 = 0x7ab1_e60c;

/// Makes a system call that is not intercepted. Returns the kernel's result: a negative number is an error.
///
/// # Safety
///
/// The requirements of the system call apply.
pub(crate) unsafe fn call(number: c_long, arguments: [i64; 5]) -> i64 {
    let [a, b, c, d, e] = arguments;
    let result: i64;
    // SAFETY: the caller vouches for the arguments; the registers are those of the system call convention.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") i64::from(PASS),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Prints the reason to stderr and ends the process with the exit code that the harness knows.
pub(crate) fn die(what: &[u8], number: c_long) -> ! {
    let mut digits = [b' '; 8];
    let mut rest = number.unsigned_abs();
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    for text in [b"crash shim: ".as_slice(), what, digits.as_slice(), b"\n".as_slice()] {
        // SAFETY: the text is valid for its length; a failed write changes nothing.
        unsafe { call(libc::SYS_write, [2, text.as_ptr() as i64, text.len() as i64, 0, 0]) };
    }
    // SAFETY: ending the process takes no pointers.
    unsafe { libc::_exit(EXIT_CODE) }
}

const EXIT_CODE: i32 = 97;
