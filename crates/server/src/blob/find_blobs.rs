//! Find Blobs by Tags.

use tablerock_protocol::blob::TagQuery;
use tablerock_protocol::xml::{FindEcho, FoundBlobElement, FoundTags, render_found_blobs};
use tablerock_protocol::{ContainerName, ErrorCode, ServiceError, ServiceVersion};
use tablerock_services::blob::{FoundBlob, TagSearch};

use super::BlobCall;
use super::lists::max_results;
use crate::http::reply::Reply;

pub(super) async fn find_blobs_by_tags(
    call: &BlobCall<'_>,
    container: Option<&ContainerName>,
) -> Result<Reply, ServiceError> {
    let expression = call.parameter("where").ok_or_else(|| ServiceError::missing_parameter("where"))?;
    let (max_results, items_max) = max_results(call)?;
    let marker = call.parameter("marker").filter(|marker| !marker.is_empty());
    let search = TagSearch {
        container: container.map(|container| container.as_str().to_owned()),
        query: TagQuery::parse(expression)?,
        marker: marker.map(str::to_owned),
        items_max,
    };
    let page = call.server().blobs.find_blobs_by_tags(call.account(), &search).await;
    let page = page.map_err(ServiceError::from).map_err(|error| match error.code {
        ErrorCode::InvalidMarker => {
            ServiceError::invalid_parameter("marker", marker.unwrap_or_default(), "Not a marker of this search.")
        }
        _ => error,
    })?;
    let form = match call.cx.version {
        version if version >= ServiceVersion::FOUND_TAG_SETS => FoundTags::TagSet,
        _ => FoundTags::TagValue,
    };
    let elements: Vec<_> = page.blobs.iter().map(|blob| element(blob, &search.query)).collect();
    let echo = FindEcho { expression, marker, max_results };
    let endpoint = format!("{}/", call.endpoint.base);
    let xml = render_found_blobs(&endpoint, &echo, &elements, form, page.next.as_deref().unwrap_or_default());
    Ok(Reply::xml(200, xml.into_bytes()))
}

/// A blob with those of its tags that the expression names.
fn element<'a>(blob: &'a FoundBlob, query: &'a TagQuery) -> FoundBlobElement<'a> {
    let tags = query.ranges().iter().map(|range| (range.key(), blob.tags.value(range.key()).unwrap_or_default()));
    FoundBlobElement { name: &blob.name, container: &blob.container, tags: tags.collect() }
}
