//! All cases, one file per operation or topic.

use crate::Case;

mod account_sas;
mod anonymous;
mod bad_requests;
mod batch_failures;
mod batch_requests;
mod batch_responses;
mod blob_life;
mod blocks;
mod change_message;
mod common_headers;
mod containers;
mod cors;
mod create_table;
mod delete_table;
mod error_bodies;
mod etags;
mod filter_errors;
mod filter_logic;
mod filter_types;
mod get_messages;
mod insert_entity;
mod keys;
mod limits;
mod list_blobs;
mod negotiation;
mod paging;
mod paths;
mod put_blob;
mod put_message;
mod query_entities;
mod query_entity;
mod query_tables;
mod queue_acl;
mod queue_authentication;
mod queue_lifecycle;
mod queue_metadata;
mod queue_service;
mod request_bodies;
mod service_properties;
mod shared_key;
mod table_acl;
mod table_names;
mod table_sas;
mod table_sas_policies;
mod table_sas_ranges;
mod tunnelling;
mod types;
mod versions;
mod writes;

/// Every case of the suite, topic by topic.
pub fn all() -> Vec<Case> {
    [
        paths::CASES,
        versions::CASES,
        common_headers::CASES,
        shared_key::CASES,
        anonymous::CASES,
        table_sas::CASES,
        table_sas_ranges::CASES,
        table_sas_policies::CASES,
        account_sas::CASES,
        service_properties::CASES,
        cors::CASES,
        create_table::CASES,
        table_names::CASES,
        query_tables::CASES,
        delete_table::CASES,
        table_acl::CASES,
        insert_entity::CASES,
        writes::CASES,
        etags::CASES,
        tunnelling::CASES,
        types::CASES,
        request_bodies::CASES,
        keys::CASES,
        query_entity::CASES,
        negotiation::CASES,
        query_entities::CASES,
        paging::CASES,
        filter_logic::CASES,
        filter_types::CASES,
        filter_errors::CASES,
        batch_requests::CASES,
        batch_responses::CASES,
        batch_failures::CASES,
        limits::CASES,
        error_bodies::CASES,
        bad_requests::CASES,
        queue_authentication::CASES,
        queue_service::CASES,
        queue_lifecycle::CASES,
        queue_metadata::CASES,
        queue_acl::CASES,
        put_message::CASES,
        get_messages::CASES,
        change_message::CASES,
        containers::CASES,
        put_blob::CASES,
        blocks::CASES,
        list_blobs::CASES,
        blob_life::CASES,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let mut seen = BTreeSet::new();
        for case in super::all() {
            assert!(seen.insert(case.name), "two cases are called {}", case.name);
        }
    }
}
