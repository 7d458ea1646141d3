//! Cases about the parts of a request that all services share: paths, versions, headers, credentials and errors.
//! Most run against the Table service.

pub(super) mod account_sas;
pub(super) mod anonymous;
pub(super) mod bad_requests;
pub(super) mod common_headers;
pub(super) mod cors_limits;
pub(super) mod documented_parameters;
pub(super) mod empty_headers;
pub(super) mod error_bodies;
pub(super) mod keywords;
pub(super) mod parameter_names;
pub(super) mod paths;
pub(super) mod reason_phrases;
pub(super) mod sas_time_frames;
pub(super) mod secondary;
pub(super) mod shared_key;
pub(super) mod versions;
