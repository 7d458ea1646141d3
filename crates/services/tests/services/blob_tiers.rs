//! Rehydration, with the clock in hand.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::time::Duration;

use tablerock_kv::{Clock, Store};
use tablerock_protocol::ErrorCode;
use tablerock_protocol::blob::{AccessTier, RehydratePriority};
use tablerock_services::blob::{BlobService, ReadTerms, TierChange};
use tablerock_testkit::blob_model::*;

async fn set(
    service: &BlobService,
    to: AccessTier,
    priority: Option<RehydratePriority>,
) -> tablerock_services::Result<TierChange> {
    service.set_blob_tier(at("b"), None, &ReadTerms::default(), to, priority).await
}

#[tokio::test]
async fn an_archived_blob_is_read_again_when_its_time_has_come() {
    let clock = manual_clock();
    let service = service_with_container(&Store::in_memory(), clock.clone()).await;
    for (priority, seconds) in [(None, 60), (Some(RehydratePriority::High), 15)] {
        put(&service, "b", b"content").await.unwrap();
        assert_eq!(set(&service, AccessTier::Archive, None).await.unwrap(), TierChange::Done);
        assert_eq!(code(read(&service, "b", None).await), ErrorCode::BlobArchived);
        assert_eq!(set(&service, AccessTier::Cool, priority).await.unwrap(), TierChange::Pending);
        clock.advance(Duration::from_secs(seconds - 1));
        assert_eq!(code(read(&service, "b", None).await), ErrorCode::BlobArchived);
        assert_eq!(code(set(&service, AccessTier::Hot, None).await), ErrorCode::BlobBeingRehydrated);
        clock.advance(Duration::from_secs(1));
        assert_eq!(read(&service, "b", None).await.unwrap(), "content");
        let blob = service.blob(at("b"), None, &ReadTerms::default()).await.unwrap();
        let tier = blob.tier.unwrap();
        assert_eq!((tier.at(clock.ticks()).name, tier.at(clock.ticks()).pending), ("Cool", None));
        assert_eq!(set(&service, AccessTier::Hot, None).await.unwrap(), TierChange::Done);
    }
}
