//! The published error codes of tables, queues and blobs, and which case provokes each.
//!
//! The list is the whole of the services' error tables. A code without a case says why it has none, so that a gap is
//! a decision and not an oversight.

/// How a code comes to be seen.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    /// These cases fail unless the target responds with it.
    By(&'static [&'static str]),
    /// These cases accept it, along with other codes that the sources leave open.
    Possibly(&'static [&'static str]),
    /// No request is known to provoke it.
    Never(&'static str),
}

use Seen::{By, Never, Possibly};

const ENUMERATED: &str = "appears in the published enumeration only; no request is known to give it";

/// Every published code, in alphabetical order.
pub const CODES: &[(&str, Seen)] = &[
    ("AccessTierChangeTimeConditionNotMet", By(&["a_deletion_may_depend_on_the_time_of_the_tier"])),
    ("AccountIOPSLimitExceeded", Never("belongs to another product that shares the enumeration")),
    ("AccountIsDisabled", Never("needs an account that its owner has disabled")),
    ("AppendPositionConditionNotMet", By(&["an_append_at_another_position_is_refused"])),
    ("AtomFormatNotSupported", By(&["atom_is_not_supported", "atom_bodies_are_not_supported"])),
    ("AuthenticationFailed", By(&["shared_key_with_a_wrong_key_is_refused", "an_expired_sas_is_refused"])),
    ("AuthorizationFailure", By(&["writes_outside_the_range_are_refused"])),
    ("AuthorizationPermissionMismatch", By(&["a_table_sas_needs_r_to_query"])),
    ("AuthorizationProtocolMismatch", By(&["a_sas_for_https_is_refused_over_http"])),
    ("AuthorizationResourceTypeMismatch", By(&["an_account_sas_lists_tables_with_c_and_l"])),
    ("AuthorizationServiceMismatch", By(&["an_account_sas_for_other_services_is_refused"])),
    ("AuthorizationSourceIPMismatch", By(&["a_sas_for_another_address_is_refused"])),
    ("BlobAlreadyExists", By(&["a_blob_is_created_once"])),
    ("BlobArchived", By(&["an_archived_blob_is_not_read"])),
    ("BlobBeingRehydrated", By(&["a_rehydration_goes_to_one_tier"])),
    ("BlobImmutableDueToPolicy", Never("needs a container with an immutability policy")),
    ("BlobIsSealed", By(&["a_sealed_blob_grows_no_more"])),
    ("BlobNotArchived", Never("needs an archive tier, which takes hours to come back from")),
    ("BlobNotFound", By(&["a_missing_blob_is_not_found"])),
    ("BlobOverwritten", Never("of incremental copies of page blobs")),
    ("BlobTierInadequateForContentLength", Never("of premium page blobs")),
    ("BlockCountExceedsLimit", Never("takes 100,000 blocks")),
    ("BlockListTooLong", By(&["a_list_of_50001_blocks_is_refused"])),
    ("BothCrc64AndMd5HeaderPresent", By(&["two_kinds_of_checksum_are_refused"])),
    ("BothUserTagsAndSourceTagsCopyPresentException", By(&["tags_of_the_source_and_others_are_too_many"])),
    ("CannotChangeToLowerTier", Never("of premium page blobs")),
    ("CannotVerifyCopySource", By(&["a_source_that_is_not_there_cannot_be_verified"])),
    ("CommandsInBatchActOnDifferentPartitions", By(&["another_partition_fails_the_batch"])),
    ("ConditionHeadersNotSupported", Never("tables reject condition headers they do not take with InvalidInput")),
    ("ConditionNotMet", Possibly(&["if_none_match_with_the_current_etag_is_not_modified"])),
    ("ContainerAlreadyExists", By(&["an_existing_container_is_not_created_again"])),
    ("ContainerBeingDeleted", Possibly(&["a_deleted_container_is_gone_with_its_blobs"])),
    ("ContainerDisabled", Never("needs a container that its administrator has disabled")),
    ("ContainerNotFound", By(&["a_missing_container_has_no_properties"])),
    ("ContentLengthExceeded", Never("the older form of RequestBodyTooLarge")),
    ("CopyAcrossAccountsNotSupported", Never("of versions before 2012-02-12")),
    ("CopyIdMismatch", Never("needs a copy that is pending")),
    ("CorsPreflightFailure", By(&["preflight_without_rules_is_refused"])),
    ("Crc64Mismatch", By(&["a_wrong_crc64_is_refused"])),
    ("DuplicateKeyPropertySpecified", Possibly(&["a_duplicate_key_is_refused"])),
    ("DuplicatePropertiesSpecified", By(&["a_duplicate_property_is_refused"])),
    ("DuplicateTagNames", Possibly(&["tags_of_another_form_are_refused"])),
    ("EmptyMetadataKey", By(&["a_metadata_name_that_is_no_identifier_is_refused"])),
    ("EmptyTagName", Possibly(&["tags_of_another_form_are_refused"])),
    ("EntityAlreadyExists", By(&["an_existing_entity_is_not_inserted_again"])),
    ("EntityNotFound", Never("documented, but the wire shows ResourceNotFound")),
    ("EntityTooLarge", By(&["an_entity_one_byte_over_1_mib_is_refused", "a_merge_beyond_1_mib_is_refused"])),
    ("FeatureVersionMismatch", Never("which requests give it is not known")),
    ("Forbidden", Never(ENUMERATED)),
    ("HostInformationNotPresent", Possibly(&["a_missing_host_is_refused"])),
    ("InfiniteLeaseDurationRequired", Never("of copies that are pending")),
    ("InsufficientAccountPermissions", Possibly(&["the_secondary_refuses_writes"])),
    ("InternalError", Possibly(&["a_table_filter_on_another_property_is_refused"])),
    ("InvalidAuthenticationInfo", By(&["a_malformed_authorization_is_refused"])),
    ("InvalidBlobOrBlock", By(&["block_ids_have_one_length"])),
    ("InvalidBlobTier", Possibly(&["an_unknown_tier_is_refused"])),
    ("InvalidBlobType", By(&["an_append_to_a_block_blob_is_refused"])),
    ("InvalidBlockId", Possibly(&["a_block_id_that_is_no_base64_is_refused"])),
    ("InvalidBlockList", By(&["an_unknown_block_is_refused"])),
    ("InvalidDuplicateRow", By(&["a_duplicate_row_fails_the_batch"])),
    ("InvalidHeaderValue", By(&["a_malformed_version_is_refused", "preflight_needs_an_origin"])),
    ("InvalidHttpVerb", Possibly(&["an_unknown_verb_is_refused"])),
    ("InvalidInput", By(&["malformed_json_is_refused", "a_syntax_error_names_its_position"])),
    ("InvalidMarker", Possibly(&["a_queue_marker_of_another_form_is_refused"])),
    ("InvalidMd5", Never("tables sign Content-MD5 but are not known to check it")),
    ("InvalidMetadata", By(&["a_metadata_name_that_is_no_identifier_is_refused"])),
    ("InvalidOperation", Possibly(&["a_snapshot_cannot_be_written"])),
    ("InvalidPageRange", Never("of page blobs")),
    ("InvalidQueryParameterValue", By(&["stats_of_the_primary_are_refused"])),
    ("InvalidRange", By(&["a_range_that_begins_beyond_the_end_is_refused"])),
    ("InvalidResourceName", By(&["names_with_other_than_letters_and_digits_are_refused"])),
    ("InvalidSourceBlobType", Never("of incremental copies of page blobs")),
    ("InvalidUri", Never("which paths give it rather than another error is not known")),
    ("InvalidValueType", Never(ENUMERATED)),
    ("InvalidXmlDocument", By(&["an_empty_root_element_is_refused", "malformed_xml_is_refused"])),
    ("InvalidXmlNodeValue", Possibly(&["a_bad_date_or_permission_is_refused"])),
    ("JsonFormatNotSupported", By(&["json_before_2013_is_not_supported"])),
    ("JsonVerboseFormatNotSupported", By(&["verbose_json_is_not_supported"])),
    ("KeyValueTooLarge", Never(ENUMERATED)),
    ("LeaseAlreadyBroken", Never("the wire shows a success when a broken lease is broken again")),
    ("LeaseAlreadyPresent", By(&["the_lease_of_a_container_is_taken_once"])),
    ("LeaseIdMismatchWithBlobOperation", By(&["a_leased_blob_is_written_with_its_lease_only"])),
    ("LeaseIdMismatchWithContainerOperation", By(&["a_leased_container_is_deleted_with_its_lease_only"])),
    ("LeaseIdMismatchWithLeaseOperation", By(&["a_lease_is_renewed_by_its_id"])),
    ("LeaseIdMissing", By(&["a_leased_blob_is_written_with_its_lease_only"])),
    ("LeaseIsBreakingAndCannotBeAcquired", By(&["a_breaking_lease_runs_out"])),
    ("LeaseIsBreakingAndCannotBeChanged", By(&["a_breaking_lease_runs_out"])),
    ("LeaseIsBrokenAndCannotBeRenewed", By(&["a_breaking_lease_runs_out"])),
    ("LeaseLost", By(&["a_broken_lease_of_a_container_is_lost"])),
    ("LeaseNotPresentWithBlobOperation", By(&["a_leased_blob_is_written_with_its_lease_only"])),
    ("LeaseNotPresentWithContainerOperation", Never("the same rule as for blobs, whose case stands for it")),
    ("LeaseNotPresentWithLeaseOperation", By(&["a_blob_without_a_lease_has_none_to_break"])),
    ("MaxBlobSizeConditionNotMet", By(&["an_append_beyond_the_maximum_is_refused"])),
    ("Md5Mismatch", Never("tables sign Content-MD5 but are not known to check it")),
    ("MediaTypeNotSupported", By(&["other_media_types_are_not_supported", "other_bodies_are_not_supported"])),
    ("MessageNotFound", By(&["an_unknown_message_cannot_be_deleted", "a_stale_receipt_deletes_nothing"])),
    ("MessageTooLarge", Possibly(&["a_text_of_64_kib_is_accepted_and_one_more_byte_is_not"])),
    ("MetadataTooLarge", By(&["metadata_over_8_kib_is_refused"])),
    ("MethodNotAllowed", Possibly(&["a_verb_the_resource_does_not_know_is_refused"])),
    ("MissingContentLengthHeader", By(&["a_body_without_a_length_is_refused"])),
    ("MissingRequiredHeader", Possibly(&["delete_without_if_match_is_refused"])),
    ("MissingRequiredQueryParameter", Never("which parameters tables miss with it is not known")),
    ("MissingRequiredXmlNode", Possibly(&["enabled_metrics_need_include_apis"])),
    ("MultipleConditionHeadersNotSupported", By(&["conditions_that_exclude_each_other_are_refused"])),
    ("NoAuthenticationInformation", By(&["an_anonymous_request_is_challenged_from_2020_on"])),
    ("NoPendingCopyOperation", By(&["there_is_no_copy_to_abort"])),
    ("NotImplemented", By(&["functions_are_not_implemented", "unsupported_query_options_are_not_implemented"])),
    ("OperationTimedOut", Never("needs a server under more load than a test may make")),
    ("OperatorInvalid", Never(ENUMERATED)),
    ("OutOfRangeInput", By(&["names_of_2_and_of_64_characters_are_refused", "dates_outside_the_range_are_refused"])),
    ("OutOfRangeQueryParameterValue", Never("tables reject $top out of range with InvalidInput")),
    ("PartitionKeyEqual", Never(ENUMERATED)),
    ("PartitionKeyNotSpecified", Never(ENUMERATED)),
    ("PartitionKeyPropertyCannotBeUpdated", Possibly(&["keys_in_the_body_of_an_update_do_not_move_the_entity"])),
    ("PendingCopyOperation", Never("needs a copy that is pending")),
    ("PopReceiptMismatch", Never("documented, but the wire shows MessageNotFound")),
    ("PrimaryKeyPropertyIsInvalidType", Possibly(&["insert_with_a_key_of_another_type_is_refused"])),
    ("PropertiesNeedValue", By(&["insert_without_partition_key_is_refused"])),
    ("PropertyNameInvalid", By(&["property_names_of_another_form_are_refused"])),
    ("PropertyNameTooLong", By(&["a_property_name_of_256_characters_is_refused"])),
    ("PropertyValueTooLarge", By(&["a_string_of_32769_characters_is_refused"])),
    ("PublicAccessNotPermitted", Possibly(&["a_private_container_is_closed_to_strangers"])),
    ("QueueAlreadyExists", By(&["a_queue_that_exists_with_other_metadata_is_a_conflict"])),
    ("QueueBeingDeleted", Possibly(&["a_queue_can_be_created_again_after_its_deletion"])),
    ("QueueDisabled", Never("needs a queue that its administrator has disabled")),
    ("QueueNotEmpty", Never(ENUMERATED)),
    ("QueueNotFound", By(&["a_deleted_queue_is_gone_with_its_messages"])),
    ("RequestBodyTooLarge", By(&["a_body_over_4_mib_is_too_large", "a_batch_over_4_mib_is_too_large"])),
    ("RequestUrlFailedToParse", Never("which URLs give it rather than another error is not known")),
    ("ResourceAlreadyExists", Never("tables and entities have codes of their own for this")),
    ("ResourceNotFound", By(&["a_read_of_a_missing_entity_is_not_found"])),
    ("SequenceNumberConditionNotMet", Never("of page blobs")),
    ("ServerBusy", Never("needs a server under more load than a test may make")),
    ("SnapshotCountExceeded", Never("of premium accounts")),
    ("SnapshotOperationRateExceeded", Never("of premium accounts")),
    ("SnapshotsPresent", By(&["a_blob_with_snapshots_is_deleted_with_them_only"])),
    ("SourceConditionNotMet", By(&["the_conditions_of_a_copy_are_checked_on_both_sides"])),
    ("SystemInUse", Never(ENUMERATED)),
    ("TableAlreadyExists", By(&["an_existing_table_is_not_created_again"])),
    ("TableBeingDeleted", Possibly(&["a_table_created_again_is_empty"])),
    ("TableHasNoProperties", Never(ENUMERATED)),
    ("TableNotFound", By(&["a_query_of_a_missing_table_is_not_found"])),
    ("TagsTooLarge", Possibly(&["tags_of_another_form_are_refused"])),
    ("TargetConditionNotMet", Possibly(&["the_conditions_of_a_copy_are_checked_on_both_sides"])),
    ("TooManyProperties", By(&["an_entity_of_253_properties_is_refused"])),
    ("UnauthorizedBlobOverwrite", By(&["a_sas_that_only_creates_does_not_overwrite"])),
    ("UnsatisfiableCondition", By(&["none_match_any_is_no_condition_for_a_read"])),
    ("UnsupportedHeader", Never(ENUMERATED)),
    ("UnsupportedHttpVerb", Possibly(&["a_verb_the_resource_does_not_know_is_refused"])),
    ("UnsupportedQueryParameter", Never(ENUMERATED)),
    ("UnsupportedXmlNode", Never(ENUMERATED)),
    ("UpdateConditionNotSatisfied", By(&["update_with_a_stale_etag_is_refused"])),
    ("XMethodIncorrectCount", By(&["a_repeated_tunnelling_header_is_refused"])),
    ("XMethodIncorrectValue", By(&["an_unknown_tunnelled_method_is_refused"])),
    ("XMethodNotUsingPost", By(&["a_tunnelling_header_without_post_is_refused"])),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The codes as published, kept apart from the table so that a row lost there is noticed.
    const PUBLISHED: &str = "AccountIOPSLimitExceeded AccountIsDisabled AtomFormatNotSupported AuthenticationFailed \
        AuthorizationFailure AuthorizationPermissionMismatch AuthorizationProtocolMismatch \
        AuthorizationResourceTypeMismatch AuthorizationServiceMismatch AuthorizationSourceIPMismatch \
        CommandsInBatchActOnDifferentPartitions ConditionHeadersNotSupported ConditionNotMet ContentLengthExceeded \
        CorsPreflightFailure DuplicateKeyPropertySpecified DuplicatePropertiesSpecified EntityAlreadyExists \
        EntityNotFound EntityTooLarge Forbidden HostInformationNotPresent InsufficientAccountPermissions \
        InternalError InvalidAuthenticationInfo InvalidDuplicateRow InvalidHeaderValue InvalidHttpVerb InvalidInput \
        InvalidQueryParameterValue InvalidResourceName InvalidUri InvalidValueType InvalidXmlDocument \
        InvalidXmlNodeValue JsonFormatNotSupported JsonVerboseFormatNotSupported KeyValueTooLarge \
        MediaTypeNotSupported MethodNotAllowed MissingContentLengthHeader MissingRequiredHeader \
        MissingRequiredQueryParameter MissingRequiredXmlNode Md5Mismatch InvalidMd5 NoAuthenticationInformation \
        NotImplemented OperationTimedOut OperatorInvalid OutOfRangeInput OutOfRangeQueryParameterValue \
        PartitionKeyNotSpecified PartitionKeyEqual PartitionKeyPropertyCannotBeUpdated \
        PrimaryKeyPropertyIsInvalidType PropertiesNeedValue PropertyNameInvalid PropertyNameTooLong \
        PropertyValueTooLarge RequestBodyTooLarge RequestUrlFailedToParse ResourceAlreadyExists ResourceNotFound \
        ServerBusy TableAlreadyExists TableBeingDeleted TableHasNoProperties TableNotFound TooManyProperties \
        UnsupportedHeader UnsupportedQueryParameter UnsupportedXmlNode UnsupportedHttpVerb \
        UpdateConditionNotSatisfied XMethodIncorrectCount XMethodIncorrectValue XMethodNotUsingPost \
        EmptyMetadataKey InvalidMarker InvalidMetadata MessageNotFound MessageTooLarge MetadataTooLarge \
        PopReceiptMismatch QueueAlreadyExists QueueBeingDeleted QueueDisabled QueueNotEmpty QueueNotFound \
        AccessTierChangeTimeConditionNotMet AppendPositionConditionNotMet BlobAlreadyExists BlobArchived \
        BlobBeingRehydrated BlobImmutableDueToPolicy BothUserTagsAndSourceTagsCopyPresentException \
        BlobIsSealed BlobNotArchived BlobNotFound BlobOverwritten BlobTierInadequateForContentLength \
        BlockCountExceedsLimit BlockListTooLong BothCrc64AndMd5HeaderPresent CannotChangeToLowerTier \
        CannotVerifyCopySource ContainerAlreadyExists ContainerBeingDeleted ContainerDisabled ContainerNotFound \
        CopyAcrossAccountsNotSupported CopyIdMismatch Crc64Mismatch DuplicateTagNames EmptyTagName \
        FeatureVersionMismatch InfiniteLeaseDurationRequired InvalidBlobOrBlock InvalidBlobTier InvalidBlobType \
        InvalidBlockId InvalidBlockList InvalidOperation InvalidPageRange InvalidRange InvalidSourceBlobType \
        LeaseAlreadyBroken LeaseAlreadyPresent LeaseIdMismatchWithBlobOperation \
        LeaseIdMismatchWithContainerOperation LeaseIdMismatchWithLeaseOperation LeaseIdMissing \
        LeaseIsBreakingAndCannotBeAcquired LeaseIsBreakingAndCannotBeChanged LeaseIsBrokenAndCannotBeRenewed \
        LeaseLost LeaseNotPresentWithBlobOperation LeaseNotPresentWithContainerOperation \
        LeaseNotPresentWithLeaseOperation MaxBlobSizeConditionNotMet MultipleConditionHeadersNotSupported \
        NoPendingCopyOperation PendingCopyOperation PublicAccessNotPermitted SequenceNumberConditionNotMet \
        SnapshotCountExceeded SnapshotOperationRateExceeded SnapshotsPresent SourceConditionNotMet SystemInUse \
        TagsTooLarge TargetConditionNotMet UnauthorizedBlobOverwrite UnsatisfiableCondition";

    #[test]
    fn every_published_code_has_a_row() {
        let published: BTreeSet<&str> = PUBLISHED.split_whitespace().collect();
        let listed: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
        assert_eq!(listed, published);
        assert_eq!(CODES.len(), published.len(), "a code has two rows");
    }

    #[test]
    fn every_named_case_exists() {
        let names: BTreeSet<&str> = crate::cases::all().iter().map(|case| case.name).collect();
        for (code, seen) in CODES {
            match seen {
                By(cases) | Possibly(cases) => {
                    assert!(!cases.is_empty(), "{code} names no case");
                    for case in *cases {
                        assert!(names.contains(case), "{code} names {case}, which does not exist");
                    }
                }
                Never(reason) => assert!(!reason.is_empty(), "{code} has no reason"),
            }
        }
    }
}
