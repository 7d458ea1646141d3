//! All cases: a folder per service, a file per operation or topic.

use crate::Case;

mod blob;
mod queue;
mod service;
mod table;

/// Every case of the suite, topic by topic.
pub fn all() -> Vec<Case> {
    [
        service::paths::CASES,
        service::versions::CASES,
        service::common_headers::CASES,
        service::shared_key::CASES,
        service::anonymous::CASES,
        service::secondary::CASES,
        service::sas_time_frames::CASES,
        table::sas::CASES,
        table::sas_ranges::CASES,
        table::sas_policies::CASES,
        service::account_sas::CASES,
        table::service_properties::CASES,
        table::cors::CASES,
        service::cors_limits::CASES,
        table::create_table::CASES,
        table::names::CASES,
        table::query_tables::CASES,
        table::delete_table::CASES,
        table::acl::CASES,
        table::insert_entity::CASES,
        table::writes::CASES,
        table::etags::CASES,
        table::tunnelling::CASES,
        table::types::CASES,
        table::request_bodies::CASES,
        table::keys::CASES,
        table::property_names::CASES,
        table::order_of_checks::CASES,
        table::query_entity::CASES,
        table::negotiation::CASES,
        table::query_entities::CASES,
        table::paging::CASES,
        table::filter_logic::CASES,
        table::filter_types::CASES,
        table::filter_errors::CASES,
        table::filter_constants::CASES,
        table::batch_requests::CASES,
        table::batch_responses::CASES,
        table::batch_failures::CASES,
        table::limits::CASES,
        service::error_bodies::CASES,
        service::reason_phrases::CASES,
        service::bad_requests::CASES,
        service::parameter_names::CASES,
        service::documented_parameters::CASES,
        service::empty_headers::CASES,
        service::keywords::CASES,
        queue::authentication::CASES,
        queue::service::CASES,
        queue::lifecycle::CASES,
        queue::metadata::CASES,
        queue::acl::CASES,
        queue::put_message::CASES,
        queue::get_messages::CASES,
        queue::change_message::CASES,
        blob::containers::CASES,
        blob::own_containers::CASES,
        blob::put_blob::CASES,
        blob::properties::CASES,
        blob::checksums::CASES,
        blob::blocks::CASES,
        blob::pages::CASES,
        blob::page_ranges::CASES,
        blob::page_resize::CASES,
        blob::page_copies::CASES,
        blob::list_blobs::CASES,
        blob::lifecycle::CASES,
        blob::lease_terms::CASES,
        blob::tiers::CASES,
        blob::tag_terms::CASES,
        blob::uncommitted::CASES,
        blob::batch::CASES,
        blob::copy_source::CASES,
        blob::documented_headers::CASES,
        blob::documented_page_headers::CASES,
        blob::sas::CASES,
        blob::from_url::CASES,
        blob::copy_options::CASES,
        blob::customer_keys::CASES,
        blob::page_keys::CASES,
        blob::find_blobs::CASES,
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
