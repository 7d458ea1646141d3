//! Who may do what: account keys, Shared Key signatures and shared access signatures.
//!
//! A credential is first read ([`parse_authorization`], [`TableServiceSas::parse`]), then verified against the
//! account's keys, and only then asked what it allows ([`TableSas::grant`], [`AccountSas::grant`]). Times and
//! addresses come from the caller. Keys, account SAS and the constraints of any SAS are common to all services;
//! what is named after a service is its alone. Queues and blobs sign headers as well, both in the same way
//! ([`HeaderRequestParts`]).

mod account_key;
mod account_sas;
mod account_sas_terms;
mod authorization;
mod blob_sas;
mod blob_sas_terms;
mod header_order;
mod header_shared_key;
mod ip_range;
mod key_range;
mod letter_set;
mod permissions;
mod queue_sas;
mod queue_sas_terms;
mod request_date;
mod sas_constraints;
mod sas_error;
mod sas_parameters;
mod secondary_path;
mod table_sas;
mod table_sas_terms;
mod table_service_sas;
mod table_shared_key;

pub use account_key::{AccountKey, AccountKeyError};
pub use account_sas::{AccountGrant, AccountSas};
pub use account_sas_terms::AccountSasTerms;
pub use authorization::{Authorization, AuthorizationSyntaxError, SharedKeyScheme, parse_authorization};
pub use blob_sas::{BlobGrant, BlobSas, BlobSasTarget, ResponseHeaders, SignedBlobResource};
pub use blob_sas_terms::BlobSasTerms;
pub use header_shared_key::{HeaderRequestParts, SIGNED_HEADERS};
pub use ip_range::IpRange;
pub use key_range::{KeyBound, KeyRange};
pub use permissions::{
    AccountPermissions, BlobPermissions, QueuePermissions, SignedResourceTypes, SignedServices, TablePermissions,
};
pub use queue_sas::{QueueGrant, QueueSas};
pub use queue_sas_terms::QueueSasTerms;
pub use request_date::{REQUEST_SKEW_SECONDS_MAX, RequestDateError, check_request_date};
pub use sas_constraints::{RequestOrigin, SasConstraints, SasProtocol};
pub use sas_error::{SasError, SasTermsError};
pub use sas_parameters::{SasParameter, SasParameters};
pub use table_sas::{TableGrant, TableSas};
pub use table_sas_terms::TableSasTerms;
pub use table_service_sas::TableServiceSas;
pub use table_shared_key::TableRequestParts;
