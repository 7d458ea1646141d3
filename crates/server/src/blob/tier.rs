//! The tier of a blob in headers and lists.

use tablerock_protocol::DateTime;
use tablerock_protocol::blob::AccessTier;
use tablerock_services::blob::{Blob, BlobKind};

use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

/// The tier of a blob without one, and the tier in which one that is smart is kept.
const TIER_DEFAULT: &str = "Hot";

/// Adds the tier, which only block blobs have.
pub(super) fn tier_headers(reply: Reply, blob: &Blob, now: DateTime) -> Reply {
    facts(blob, now).into_iter().fold(reply, |reply, (header, _, value)| reply.with(header, value))
}

/// The elements of a list.
pub(super) fn listed_tier(blob: &Blob, now: DateTime) -> impl Iterator<Item = (&'static str, String)> {
    facts(blob, now).into_iter().map(|(_, element, value)| (element, value))
}

/// Everything about a tier: the header, the element and the value.
fn facts(blob: &Blob, now: DateTime) -> Vec<(ResponseHeader, &'static str, String)> {
    if blob.kind != BlobKind::Block {
        return vec![];
    }
    let Some(tier) = &blob.tier else {
        return vec![
            (ResponseHeader::AccessTier, "AccessTier", TIER_DEFAULT.to_owned()),
            (ResponseHeader::AccessTierInferred, "AccessTierInferred", "true".to_owned()),
        ];
    };
    let tier = tier.at(now.ticks());
    let mut facts = vec![
        (ResponseHeader::AccessTier, "AccessTier", tier.name.to_owned()),
        (ResponseHeader::AccessTierChangeTime, "AccessTierChangeTime", tier.changed.to_http_date()),
    ];
    if tier.name == AccessTier::Smart.name() {
        facts.push((ResponseHeader::SmartAccessTier, "SmartAccessTier", TIER_DEFAULT.to_owned()));
    }
    if let Some((to, priority)) = tier.pending {
        let status = format!("rehydrate-pending-to-{}", to.name().to_ascii_lowercase());
        facts.push((ResponseHeader::ArchiveStatus, "ArchiveStatus", status));
        facts.push((ResponseHeader::RehydratePriority, "RehydratePriority", priority.name().to_owned()));
    }
    facts
}
