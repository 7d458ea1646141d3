//! Proof by violence that what the server acknowledged is there, and nothing else.
//!
//! The server is a process like any other; all that is known of it comes over HTTP. `part` lists what is done to it.
//!
//! - The oracle of tables: `workload` writes, `ledger` knows what must be there, `observed` is what is there, and `crew`
//!   brings the three together. `history` can tell what had to be there at any earlier moment. `blobs` has the same for
//!   blobs, `messages` for queues, and `company` all three at once.
//! - The disk: `layer` puts a library under the server that records and refuses what it does to its files, and `disk`
//!   makes from the record what a power cut would have left.
//! - Many servers: `many` has three of them on one database, and kills them and it.
//! - Order: `linear` looks for an order that explains what many clients saw.

pub mod archive;
pub mod blobs;
pub mod books;
pub mod client;
pub mod clock;
pub mod company;
pub mod content;
pub mod contention;
pub mod crew;
pub mod disk;
pub mod faults;
pub mod history;
pub mod hostile;
pub mod kill;
pub mod layer;
pub mod ledger;
pub mod linear;
pub mod many;
pub mod messages;
pub mod observed;
pub mod operation;
pub mod part;
pub mod power;
pub mod prove;
pub mod run;
pub mod server;
pub mod shift;
pub mod small_buffers;
pub mod space;
pub mod workload;
