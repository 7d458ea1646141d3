//! The wire without a server: signatures, filters, JSON, XML and what strangers send.

mod cors_matching;
mod filter_errors;
mod filter_semantics;
mod hostile_input;
mod json_entity;
mod signing_account_sas;
mod signing_blob_sas;
mod signing_header_shared_key;
mod signing_queue_sas;
mod signing_shared_key;
mod signing_table_sas;
mod xml_access_policies;
mod xml_service_properties;
