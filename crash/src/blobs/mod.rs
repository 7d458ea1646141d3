//! Blob work: workers that put, append, commit blocks, write and clear pages, overwrite, snapshot and delete their own blobs
//! in one container.

mod generator;
mod model;
mod observed;
mod operation;
mod version;

pub use generator::{BlobGenerator, BlobOptions};
pub use model::{BlobModel, BlobState};
pub use observed::{ObservedBlob, ObservedBlobs};
pub use operation::{BlobAck, BlobCondition, BlobOperation, BlobWrite};
pub use version::{BlobKind, BlobVersion};

pub type BlobWorkers = crate::workers::Workers<BlobGenerator>;
pub type BlobWorker = crate::workers::Worker<BlobGenerator>;

/// The container that all workers share.
const CONTAINER: &str = "shared";
