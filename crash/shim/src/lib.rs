//! The shim: a library that is loaded into the server's process with `LD_PRELOAD`.
//!
//! A page of shared memory controls it. It does three things:
//!
//! - It records every change below one folder, and every sync, in order. From the record the harness computes the folder
//!   that a power cut would leave.
//! - It fails changes and syncs, all of them or one by its number: a full disk, a sync that returns an error, blocks or
//!   does nothing, a short write.
//! - It moves the time of day.
//!
//! The kernel intercepts the system calls. Replacing functions of the C library is not enough: some crates call the
//! kernel directly, and a missed rename would make the record wrong. A filter (`filter`) makes the kernel send a signal
//! instead of performing the call. The signal handler (`trap`) performs it under a lock and records it. Calls that
//! change files and are not modelled end the process with a message, so that the record cannot silently become incomplete.
//!
//! The time of day is the exception: it is read without a system call, so the C library's function is replaced (`time`).

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(unsafe_code, reason = "signal handlers, system calls and shared memory have no safe form")]

mod control;
mod filter;
mod gate;
mod paths;
mod record;
mod start;
mod sync;
mod time;
mod trap;
