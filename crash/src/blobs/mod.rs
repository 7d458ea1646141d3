//! Blob work: clients that put, append, commit blocks, overwrite, snapshot and delete, each blobs of its own, in one
//! container. As with entities, what must be there is known exactly, but for the one request that got no answer.

mod attempt;
mod crew;
mod ledger;
mod observed;
mod version;
mod worker;

pub use attempt::{Act, BlobAttempt, BlobVerdict, Condition};
pub use crew::{BlobCrew, settle_all};
pub use ledger::BlobLedger;
pub use observed::{ObservedBlobs, SeenBlob};
pub use version::{BlobVersion, Kind};
pub use worker::{BlobHabits, BlobWorker};

/// The container that everybody uses.
const CONTAINER: &str = "shared";
