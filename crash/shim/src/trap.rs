//! Performs and records an intercepted system call.
//!
//! The kernel sends `SIGSYS` to the calling thread. The handler takes the arguments from the saved registers and stores the
//! result there. It holds one lock from the first look at a file until the change is recorded, so that the record has
//! the order of the changes.

use core::ffi::{c_int, c_long, c_void};
use core::sync::atomic::Ordering;

use crate::control::control;
use crate::filter::MODELLED;
use crate::gate::{call, die};
use crate::paths::Path;
use crate::record::{ChangeLock, Kind};
use crate::sync::sync;

const HERE: i64 = libc::AT_FDCWD as i64;

/// The result of a call that the harness makes fail.
pub(crate) const FAILED: i64 = -(libc::EIO as i64);

/// Installs `handle` for `SIGSYS`.
pub(crate) fn install() -> bool {
    // SAFETY: all fields of the structure may be zero, and those that matter are set.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // A handler that interrupts ours could make an intercepted call, which would end the process.
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGSYS, &raw const action, core::ptr::null_mut()) == 0
    }
}

extern "C" fn handle(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: for this kind of handler the kernel passes the saved context.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let of = |register: c_int| registers[register as usize];
    let number = of(libc::REG_RAX);
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8].map(of);
    // SAFETY: the arguments are those of the program's own call.
    let result = unsafe { perform(number, arguments) };
    registers[libc::REG_RAX as usize] = result;
}

/// # Safety
///
/// As for the system call of that number.
unsafe fn perform(number: c_long, arguments: [i64; 5]) -> i64 {
    if !MODELLED.contains(&number) {
        die(b"the program made a system call that is not modelled:", number);
    }
    let [a, b, c, d, _] = arguments;
    // SAFETY: pointers among the arguments are used as the system call itself would use them.
    unsafe {
        match number {
            libc::SYS_open => open(HERE, a, b, c),
            libc::SYS_creat => open(HERE, a, i64::from(libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC), b),
            libc::SYS_openat => open(a, b, c, d),
            libc::SYS_write => write(a, b, c, None, arguments, number),
            libc::SYS_pwrite64 => write(a, b, c, Some(d), arguments, number),
            libc::SYS_writev => write_pieces(a, b, c, None, arguments, number),
            // The position of these two comes in two halves, of which the second is zero on 64 bits.
            libc::SYS_pwritev | libc::SYS_pwritev2 => write_pieces(a, b, c, Some(d), arguments, number),
            libc::SYS_ftruncate => truncate(a, b),
            libc::SYS_rename => rename(HERE, a, HERE, b, 0),
            libc::SYS_renameat => rename(a, b, c, d, 0),
            libc::SYS_renameat2 => rename(a, b, c, d, arguments[4]),
            libc::SYS_unlink => change_name(Kind::Unlink, HERE, a, number, arguments),
            libc::SYS_unlinkat if c as c_int & libc::AT_REMOVEDIR != 0 => {
                change_name(Kind::RemoveDirectory, a, b, number, arguments)
            }
            libc::SYS_unlinkat => change_name(Kind::Unlink, a, b, number, arguments),
            libc::SYS_rmdir => change_name(Kind::RemoveDirectory, HERE, a, number, arguments),
            libc::SYS_mkdir => change_name(Kind::MakeDirectory, HERE, a, number, arguments),
            libc::SYS_mkdirat => change_name(Kind::MakeDirectory, a, b, number, arguments),
            libc::SYS_fsync | libc::SYS_fdatasync => sync(a, number),
            libc::SYS_read | libc::SYS_pread64 => read(a, number, arguments),
            _ => die(b"the program made a system call that is not modelled:", number),
        }
    }
}

unsafe fn open(directory: i64, text: i64, flags: i64, mode: i64) -> i64 {
    let bits = flags as c_int;
    // SAFETY: the text is the program's own.
    let path = unsafe { Path::named(directory, text) };
    let pass = || unsafe { call(libc::SYS_openat, [directory, text, flags, mode, 0]) };
    let Some(below) = path.below() else { return pass() };
    if bits & libc::O_TMPFILE == libc::O_TMPFILE {
        die(b"the program made a file without a name:", libc::SYS_openat);
    }
    if bits & (libc::O_CREAT | libc::O_TRUNC) == 0 {
        return pass();
    }
    let lock = ChangeLock::acquire();
    // SAFETY: only whether it succeeds matters.
    let was_there = unsafe { call(libc::SYS_faccessat, [directory, text, i64::from(libc::F_OK), 0, 0]) } == 0;
    if !was_there && control().free_bytes.load(Ordering::SeqCst) == 0 {
        return -i64::from(libc::ENOSPC);
    }
    if control().must_fail(below) {
        return FAILED;
    }
    let result = pass();
    if result >= 0 && !was_there {
        lock.record(Kind::Create, 0, below, &[]);
    } else if result >= 0 && bits & libc::O_TRUNC != 0 {
        lock.record(Kind::Truncate, 0, below, &[]);
    }
    result
}

unsafe fn write(file: i64, bytes: i64, count: i64, at: Option<i64>, arguments: [i64; 5], number: c_long) -> i64 {
    let path = Path::of_descriptor(file);
    let Some(below) = path.below() else { return unsafe { call(number, arguments) } };
    if count <= 0 {
        return unsafe { call(number, arguments) };
    }
    if control().must_fail(below) {
        return FAILED;
    }
    let lock = ChangeLock::acquire();
    let position = at.unwrap_or_else(|| position_of(file));
    let mut length = control().take_space(count as usize);
    if length == 0 {
        return -i64::from(libc::ENOSPC);
    }
    if length > 1 && control().writes_short.load(Ordering::Relaxed) != 0 {
        length = length.div_ceil(2);
    }
    // SAFETY: the program's buffer has at least this many bytes.
    let result = match at {
        Some(at) => unsafe { call(libc::SYS_pwrite64, [file, bytes, length as i64, at, 0]) },
        None => unsafe { call(libc::SYS_write, [file, bytes, length as i64, 0, 0]) },
    };
    if let Ok(written @ 1..) = usize::try_from(result) {
        // SAFETY: the kernel has just read as many bytes from there.
        let written = unsafe { core::slice::from_raw_parts(bytes as *const u8, written) };
        lock.record(Kind::Write, position as u64, below, written);
    }
    result
}

/// Writes the first non-empty piece, which the program sees as a short write.
unsafe fn write_pieces(
    file: i64,
    pieces: i64,
    count: i64,
    at: Option<i64>,
    arguments: [i64; 5],
    number: c_long,
) -> i64 {
    if Path::of_descriptor(file).below().is_none() || count <= 0 {
        return unsafe { call(number, arguments) };
    }
    // SAFETY: the program passes an array of this many pieces.
    let pieces = unsafe { core::slice::from_raw_parts(pieces as *const libc::iovec, count as usize) };
    match pieces.iter().find(|piece| piece.iov_len > 0) {
        // SAFETY: as for any write of the program's.
        Some(piece) => unsafe { write(file, piece.iov_base as i64, piece.iov_len as i64, at, arguments, number) },
        None => 0,
    }
}

/// The position of the next write without a position.
fn position_of(file: i64) -> i64 {
    // SAFETY: neither call takes a pointer.
    unsafe {
        let flags = call(libc::SYS_fcntl, [file, i64::from(libc::F_GETFL), 0, 0, 0]);
        if flags as c_int & libc::O_APPEND == 0 {
            return call(libc::SYS_lseek, [file, 0, i64::from(libc::SEEK_CUR), 0, 0]);
        }
        // A file that is appended to is never read through the same descriptor, so its position may be moved.
        call(libc::SYS_lseek, [file, 0, i64::from(libc::SEEK_END), 0, 0])
    }
}

unsafe fn truncate(file: i64, length: i64) -> i64 {
    let path = Path::of_descriptor(file);
    let pass = || unsafe { call(libc::SYS_ftruncate, [file, length, 0, 0, 0]) };
    let Some(below) = path.below() else { return pass() };
    change(below, pass, |lock| lock.record(Kind::Truncate, length as u64, below, &[]))
}

unsafe fn rename(from_directory: i64, from: i64, to_directory: i64, to: i64, flags: i64) -> i64 {
    // SAFETY: the texts are the program's own.
    let (old, new) = unsafe { (Path::named(from_directory, from), Path::named(to_directory, to)) };
    let pass = || unsafe { call(libc::SYS_renameat2, [from_directory, from, to_directory, to, flags]) };
    match (old.below(), new.below()) {
        (None, None) => pass(),
        (Some(old), Some(new)) if flags as u32 & libc::RENAME_EXCHANGE == 0 => {
            change(old, pass, |lock| lock.record(Kind::Rename, 0, old, new))
        }
        _ => die(b"the program renamed in a way that is not modelled:", libc::SYS_renameat2),
    }
}

/// Calls that create or remove one name.
unsafe fn change_name(kind: Kind, directory: i64, text: i64, number: c_long, arguments: [i64; 5]) -> i64 {
    // SAFETY: the text is the program's own.
    let path = unsafe { Path::named(directory, text) };
    let pass = || unsafe { call(number, arguments) };
    let Some(below) = path.below() else { return pass() };
    change(below, pass, |lock| lock.record(kind, 0, below, &[]))
}

/// Performs a call that changes something, unless it must fail, and records it on success.
fn change(below: &[u8], pass: impl FnOnce() -> i64, record: impl FnOnce(&ChangeLock)) -> i64 {
    if control().must_fail(below) {
        return FAILED;
    }
    let lock = ChangeLock::acquire();
    let result = pass();
    if result == 0 {
        record(&lock);
    }
    result
}

unsafe fn read(file: i64, number: c_long, arguments: [i64; 5]) -> i64 {
    let fails = control().reads_fail.load(Ordering::Relaxed) != 0;
    if fails && Path::of_descriptor(file).below().is_some() {
        return FAILED;
    }
    unsafe { call(number, arguments) }
}
