//! The layer under a data directory.
//!
//! This library is loaded into the server's process with `LD_PRELOAD`. It does three things there, told by a page of
//! memory that it shares with the harness:
//!
//! - It writes down every change below one folder, and every sync, in the order in which they happen. From that record
//!   the harness makes the folder as a power cut would have left it.
//! - It lets changes and syncs fail, all of them or one by its number: a disk that is full, a sync that reports an
//!   error, a sync that takes for ever, a sync that does nothing, a write that is cut short.
//! - It moves the time of day.
//!
//! System calls are caught by the kernel, not by replacing functions of the C library: some crates call the kernel
//! directly, and a rename of theirs that went unseen would make the record wrong. A filter (`filter`) has the kernel
//! send a signal instead of doing the calls in question; the handler (`trap`) then does what was asked, under a lock, and
//! writes it down. Calls that would change files in a way that is not modelled end the process with a message, so
//! the record cannot become incomplete in silence.
//!
//! The time of day is the exception: it is read without a system call, so here the C library's function is replaced
//! (`time`).

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
