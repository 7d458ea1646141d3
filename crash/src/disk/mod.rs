//! A simulated disk, built from the shim's record: what was written, what was synced, and what a power cut leaves.

mod image;
mod loss;
mod model;
mod record;
mod tree;

pub use image::Image;
pub use loss::Loss;
pub use model::Disk;
pub use record::{Event, Line, Record};
pub use tree::Tree;
