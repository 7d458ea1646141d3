//! The contract of engines and the transactions on top of it.

mod fault_engine;
mod memory_engine;
mod range;
mod store;
