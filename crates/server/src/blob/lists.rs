//! List Containers and List Blobs.

use tablerock_protocol::xml::{
    BOM, ListEcho, ListedBlob as BlobElement, ListedContainer as ContainerElement, render_blobs, render_containers,
};
use tablerock_protocol::{ContainerName, ErrorCode, ServiceError};
use tablerock_services::blob::{BlobQuery, ContainerQuery, ListedBlob};

use super::{BlobCall, containers, encode};
use crate::http::list_marker;
use crate::http::reply::Reply;

/// Entries of one page.
const ITEMS_MAX: usize = 5000;

/// The values of `include`.
const CONTAINERS_INCLUDE: [&str; 3] = ["metadata", "deleted", "system"];
const BLOBS_INCLUDE: [&str; 10] = [
    "snapshots",
    "metadata",
    "uncommittedblobs",
    "copy",
    "deleted",
    "tags",
    "versions",
    "deletedwithversions",
    "immutabilitypolicy",
    "legalhold",
];

pub(super) async fn list_containers(call: &BlobCall<'_>) -> Result<Reply, ServiceError> {
    let include = include(call, &CONTAINERS_INCLUDE)?;
    let (max_results, items_max) = max_results(call)?;
    let marker = call.parameter("marker");
    let query = ContainerQuery {
        prefix: call.parameter("prefix").unwrap_or_default().to_owned(),
        from: marker.map(|marker| list_marker::parse(call.account(), marker)).transpose()?.map(str::to_owned),
        items_max,
        with_system: include.contains(&"system"),
    };
    let page = call.server().blobs.list_containers(call.account(), &query).await?;
    let listed = page.containers.iter().map(|listed| ContainerElement {
        name: &listed.name,
        properties: containers::listed_properties(&listed.container, call.cx.now),
        metadata: include.contains(&"metadata").then_some(&listed.container.metadata),
    });
    let elements: Vec<_> = listed.collect();
    let echo = ListEcho { prefix: call.parameter("prefix"), marker, max_results, delimiter: None };
    let next = page.next.map_or(String::new(), |name| list_marker::write(call.account(), &name));
    let xml = render_containers(&format!("{}/", call.endpoint.base), &echo, &elements, &next);
    Ok(Reply::xml(200, format!("{BOM}{xml}").into_bytes()))
}

pub(super) async fn list_blobs(call: &BlobCall<'_>, container: &ContainerName) -> Result<Reply, ServiceError> {
    let include = include(call, &BLOBS_INCLUDE)?;
    let has = |what: &str| include.contains(&what);
    let (max_results, items_max) = max_results(call)?;
    let (prefix, delimiter) = (call.parameter("prefix"), call.parameter("delimiter"));
    if delimiter.is_some() && has("snapshots") {
        let reason = "A list with a delimiter has no snapshots.";
        return Err(ServiceError::invalid_parameter("include", "snapshots", reason));
    }
    let query = BlobQuery {
        prefix: prefix.unwrap_or_default().to_owned(),
        delimiter: delimiter.map(str::to_owned),
        marker: call.parameter("marker").map(str::to_owned),
        from: call.parameter("startFrom").map(str::to_owned),
        before: call.parameter("endBefore").map(str::to_owned),
        items_max,
        with_snapshots: has("snapshots"),
        with_uncommitted: has("uncommittedblobs"),
    };
    let page = call.server().blobs.list_blobs(call.account(), container.as_str(), &query).await;
    let page = page.map_err(ServiceError::from).map_err(|error| match error.code {
        ErrorCode::InvalidMarker => {
            let marker = query.marker.as_deref().unwrap_or_default();
            ServiceError::invalid_parameter("marker", marker, "Not a marker of this list.")
        }
        _ => error,
    })?;
    let elements: Vec<_> = page
        .entries
        .iter()
        .map(|entry| match entry {
            ListedBlob::Prefix(prefix) => BlobElement::Prefix(prefix),
            ListedBlob::Uncommitted { name } => uncommitted(name),
            ListedBlob::Blob { name, snapshot, blob } => BlobElement::Blob {
                name,
                snapshot: snapshot.map(|taken| taken.to_seven_digits()),
                properties: encode::listed_properties(blob, snapshot.is_some(), has("copy"), call.cx.now),
                metadata: (has("metadata") && blob.key_digest.is_none()).then_some(&blob.metadata),
                is_metadata_encrypted: has("metadata") && blob.key_digest.is_some(),
                tags: Some(&blob.tags).filter(|tags| has("tags") && !tags.is_empty()),
            },
        })
        .collect();
    let echo = ListEcho { prefix, marker: call.parameter("marker"), max_results, delimiter };
    let next = page.next.unwrap_or_default();
    let xml = render_blobs(&format!("{}/", call.endpoint.base), container.as_str(), &echo, &elements, &next);
    Ok(Reply::xml(200, format!("{BOM}{xml}").into_bytes()))
}

/// A blob with uncommitted blocks only has few properties.
fn uncommitted(name: &str) -> BlobElement<'_> {
    let properties =
        [("Content-Length", "0"), ("BlobType", "BlockBlob"), ("LeaseStatus", "unlocked"), ("LeaseState", "available")];
    let properties = properties.map(|(name, value)| (name, value.to_owned())).to_vec();
    BlobElement::Blob { name, snapshot: None, properties, metadata: None, is_metadata_encrypted: false, tags: None }
}

/// `maxresults` as requested and as applied.
pub(super) fn max_results(call: &BlobCall<'_>) -> Result<(Option<usize>, usize), ServiceError> {
    let Some(text) = call.parameter("maxresults").map(str::trim_ascii) else { return Ok((None, ITEMS_MAX)) };
    match text.parse::<i64>() {
        Ok(count) if count > 0 => {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(ITEMS_MAX);
            Ok((Some(count), count))
        }
        Ok(_) => Err(ServiceError::parameter_outside("maxresults", text, &(1..=ITEMS_MAX))),
        Err(_) => Err(ServiceError::invalid_parameter("maxresults", text, "Not a number.")),
    }
}

/// Parses `include`: a list with commas, also if it is given as several parameters.
fn include<'a>(call: &BlobCall<'a>, known: &[&'static str]) -> Result<Vec<&'static str>, ServiceError> {
    let mut found = Vec::new();
    let include = call.parameter("include").unwrap_or_default();
    for word in include.split(',').filter(|word| !word.is_empty()) {
        match known.iter().find(|known| known.eq_ignore_ascii_case(word)) {
            Some(known) => found.push(*known),
            None => return Err(ServiceError::invalid_parameter("include", word, "Nothing that a list has.")),
        }
    }
    Ok(found)
}
