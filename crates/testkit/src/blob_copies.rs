//! Copies of blobs of all kinds, as the models and other tests make them.

use tablerock_protocol::DateTime;
use tablerock_protocol::blob::{Conditions, CopySourceUrl, CustomerKey, Tags};
use tablerock_services::Result;
use tablerock_services::blob::{BlobService, CopySource, CopyTarget, WriteTerms};

use crate::blob_model::at;

/// Copies a blob, or a snapshot of one, to another name. Each of the two has its customer's key, or none.
pub async fn copy_blob(
    service: &BlobService,
    (from, snapshot, source_key): (&str, Option<DateTime>, Option<&CustomerKey>),
    (to, key): (&str, Option<&CustomerKey>),
) -> Result<()> {
    let source = CopySource {
        at: at(from),
        snapshot,
        conditions: Conditions::default(),
        tags: None,
        lease: None,
        key: source_key.cloned(),
        url: CopySourceUrl::without_credentials("http://127.0.0.1/"),
    };
    let target = CopyTarget {
        at: at(to),
        terms: WriteTerms::default(),
        metadata: None,
        tags: Some(Tags::default()),
        tier: None,
        priority: None,
        seals: None,
        key: key.cloned(),
    };
    service.copy_blob(&source, &target).await.map(drop)
}
