//! Other programs: run within a bound, logged, ended together with what they started.

pub(crate) mod cancel;
pub(crate) mod child;
pub(crate) mod tree;
