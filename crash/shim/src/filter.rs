//! The seccomp filter: it selects the system calls that become signals.
//!
//! The kernel runs the filter at each system call. The filter allows calls with the shim's mark, turns the calls of two
//! lists into `SIGSYS`, and allows all others.

use core::ffi::c_long;

use crate::gate::PASS;

/// Calls that change or sync files and directories, which the shim performs itself.
pub(crate) const MODELLED: [c_long; 21] = [
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_creat,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_ftruncate,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_read,
    libc::SYS_pread64,
];

/// Calls that could also change files and are not modelled: they end the process. The server makes none of them.
pub(crate) const REFUSED: [c_long; 21] = [
    libc::SYS_openat2,
    libc::SYS_truncate,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_fallocate,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_vmsplice,
    libc::SYS_sync_file_range,
    libc::SYS_syncfs,
    libc::SYS_sync,
    libc::SYS_io_setup,
    libc::SYS_io_submit,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_open_by_handle_at,
];

/// Offsets in `seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENT_PROTECTION: u32 = 16 + 8 * 2;
const ARGUMENT_FLAGS: u32 = 16 + 8 * 3;
const ARGUMENT_MARK: u32 = 16 + 8 * 5;
const X86_64: u32 = 0xc000_003e;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_SET: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const ALLOW: libc::sock_filter = statement(RETURN, libc::SECCOMP_RET_ALLOW);
const TRAP: libc::sock_filter = statement(RETURN, libc::SECCOMP_RET_TRAP);

const fn statement(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: 0, k }
}

/// Runs the next statement if the comparison holds, and otherwise the one after it.
const fn compare(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: 1, k }
}

/// Runs the next statement if the comparison does not hold.
const fn compare_not(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 1, jf: 0, k }
}

fn program() -> Vec<libc::sock_filter> {
    // Calls of another architecture have other numbers, and the server makes none.
    let mut program = vec![statement(LOAD, ARCHITECTURE), compare_not(JUMP_EQUAL, X86_64), TRAP];
    program.extend([statement(LOAD, ARGUMENT_MARK), compare(JUMP_EQUAL, PASS), ALLOW, statement(LOAD, NUMBER)]);
    for number in MODELLED.into_iter().chain(REFUSED) {
        program.extend([compare(JUMP_EQUAL, number as u32), TRAP]);
    }
    // Shared writable memory may be a file, which would then change without a call.
    program.extend([compare_not(JUMP_EQUAL, libc::SYS_mmap as u32), ALLOW]);
    program.extend([statement(LOAD, ARGUMENT_FLAGS), compare_not(JUMP_SET, libc::MAP_SHARED as u32), ALLOW]);
    program.extend([statement(LOAD, ARGUMENT_PROTECTION), compare_not(JUMP_SET, libc::PROT_WRITE as u32), ALLOW, TRAP]);
    program
}

/// Installs the filter in this process.
pub(crate) fn install() -> bool {
    let mut program = program();
    let whole = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: both calls only read what they are given, which is valid for as long as they take.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const whole) == 0
    }
}
