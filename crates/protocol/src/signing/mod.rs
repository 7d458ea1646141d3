//! Authentication: account keys, Shared Key signatures and shared access signatures (SAS).
//!
//! A credential is parsed ([`parse_authorization`], [`TableSas::parse`]), verified against the account's keys, and then
//! yields a grant ([`TableSas::grant`], [`AccountSas::grant`]). Times and addresses come from the caller. Keys, the
//! account SAS and the constraints of a SAS are common to all services; types named after a service belong to it.
//! Queues and blobs share one Shared Key string, which covers headers ([`HeaderRequestParts`]).

mod account_key;
mod sas;
mod shared_key;

pub use account_key::{AccountKey, AccountKeyError};
pub use sas::{
    AccountGrant, AccountPermissions, AccountSas, AccountSasTerms, BlobGrant, BlobPermissions, BlobSas, BlobSasTarget,
    BlobSasTerms, IpRange, KeyBound, KeyRange, QueueGrant, QueuePermissions, QueueSas, QueueSasTerms, RequestOrigin,
    ResponseHeaders, Sas, SasConstraints, SasError, SasParameter, SasParameters, SasProtocol, SasTermsError,
    SignedAccount, SignedBlobResource, SignedQueue, SignedResourceTypes, SignedServices, SignedTable, TableGrant,
    TablePermissions, TableSas, TableSasTerms, TableServiceSas, TimeFrame,
};
pub use shared_key::{
    Authorization, AuthorizationSyntaxError, HeaderRequestParts, REQUEST_SKEW_SECONDS_MAX, RequestDateError,
    SIGNED_HEADERS, SharedKeyScheme, TableRequestParts, check_request_date, parse_authorization,
};
