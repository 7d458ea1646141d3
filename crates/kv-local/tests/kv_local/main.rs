//! The embedded engine on a real disk.

mod clean_stop;
mod contract;
mod crash;
mod directory;
mod parts;
mod space;
