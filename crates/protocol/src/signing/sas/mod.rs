//! Shared access signatures of tables, queues, containers, blobs and accounts.
//!
//! [`Sas`] is the mechanism that all kinds share. A file per kind adds its string-to-sign, its grant and its terms.

mod account;
mod blob;
mod constraints;
mod error;
mod ip_range;
mod key_range;
mod letter_set;
mod parameters;
mod permissions;
mod queue;
mod table;
mod terms;
mod token;

pub use account::{AccountGrant, AccountSas, AccountSasTerms, SignedAccount};
pub use blob::{BlobGrant, BlobSas, BlobSasTarget, BlobSasTerms, ResponseHeaders, SignedBlobResource};
pub use constraints::{RequestOrigin, SasConstraints, SasProtocol};
pub use error::{SasError, SasTermsError, TimeFrame};
pub use ip_range::IpRange;
pub use key_range::{KeyBound, KeyRange};
pub use parameters::{SasParameter, SasParameters};
pub use permissions::{
    AccountPermissions, BlobPermissions, QueuePermissions, SignedResourceTypes, SignedServices, TablePermissions,
};
pub use queue::{QueueGrant, QueueSas, QueueSasTerms, SignedQueue};
pub use table::{SignedTable, TableGrant, TableSas, TableSasTerms, TableServiceSas};
pub use token::Sas;
