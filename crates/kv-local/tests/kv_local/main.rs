//! The embedded engine on a real disk.

mod contract;
mod crash;
mod directory;
mod fjall_version;
mod space;
