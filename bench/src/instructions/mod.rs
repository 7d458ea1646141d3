//! Instructions that the server retires in user space for one request, counted by valgrind's callgrind.
//!
//! Unlike rates they hardly depend on the machine and on what else it does, so that a change of a few percent is seen.
//! Left out are the kernel, the disk, and waiting.

pub mod callgrind;
pub mod figures;
pub mod operations;
pub mod profile;
