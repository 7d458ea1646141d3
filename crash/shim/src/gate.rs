//! System calls of the layer's own, which its filter lets through.

use core::ffi::c_long;

/// The sixth argument that tells our own calls from the program's. No call that we catch has so many.
pub(crate) const PASS: u32 = 0x7ab1_e60c;

/// Makes a system call that is not caught. The result is that of the kernel: a negative number is an error.
///
/// # Safety
///
/// As for the call itself: what it says about its arguments must hold.
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

/// Says why on stderr, and ends the process: the harness knows this exit code.
pub(crate) fn die(what: &[u8], number: c_long) -> ! {
    let mut digits = [b' '; 8];
    let mut rest = number.unsigned_abs();
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    for text in [b"crash layer: ".as_slice(), what, digits.as_slice(), b"\n".as_slice()] {
        // SAFETY: the text is valid for its length; a failure to tell changes nothing.
        unsafe { call(libc::SYS_write, [2, text.as_ptr() as i64, text.len() as i64, 0, 0]) };
    }
    // SAFETY: ending the process takes no pointers.
    unsafe { libc::_exit(EXIT_CODE) }
}

const EXIT_CODE: i32 = 97;
