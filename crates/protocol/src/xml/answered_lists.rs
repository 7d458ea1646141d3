//! The client's side of List Containers, List Blobs and List Queues: the items of a page.

use super::reading::Element;
use crate::{ErrorCode, ServiceError, limits};

/// How many entries a client should ask for at a time, so that the page is within what is read here.
pub const ANSWERED_LIST_ITEMS_MAX: usize = 500;
/// An entry has at most its metadata, a name and properties, of which a character may take six bytes.
/// The name of the element is that of the header.
const SEQUENCE_NUMBER: &str = "x-ms-blob-sequence-number";

const ITEM_BYTES_MAX: usize = 6 * (limits::METADATA_BYTES_MAX + 4096);
const LIST_BYTES_MAX: usize = ANSWERED_LIST_ITEMS_MAX * ITEM_BYTES_MAX;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredPage<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Where the next page begins.
    pub next_marker: Option<String>,
}

/// A container as a client reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredContainer {
    /// The name of the queue.
    pub name: String,
    /// Empty unless it was asked for.
    pub metadata: Vec<(String, String)>,
}

/// A queue as a client reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredQueue {
    /// The name of the container.
    pub name: String,
    /// Empty unless it was asked for.
    pub metadata: Vec<(String, String)>,
}

/// A blob or a snapshot as a client reads it. Fields that the service omits are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredBlob {
    /// The name of the blob.
    pub name: String,
    /// When the snapshot was taken, if it is one.
    pub snapshot: Option<String>,
    /// `BlockBlob`, `AppendBlob` or `PageBlob`.
    pub blob_type: String,
    /// Without the quotation marks that it has in headers, or with them, as the service likes.
    pub etag: String,
    /// The length in bytes.
    pub length: u64,
    /// `Content-Type`.
    pub content_type: String,
    /// `Content-Encoding`.
    pub content_encoding: String,
    /// `Content-Language`.
    pub content_language: String,
    /// `Content-MD5`.
    pub content_md5: String,
    /// `Cache-Control`.
    pub cache_control: String,
    /// `Content-Disposition`.
    pub content_disposition: String,
    /// The access tier.
    pub access_tier: String,
    /// Whether the tier is the account's, because the blob has none of its own.
    pub is_tier_inferred: bool,
    /// Whether an append blob is sealed.
    pub is_sealed: bool,
    /// The sequence number of a page blob.
    pub sequence_number: u64,
    /// The SHA-256 of the customer-provided key that the content is encrypted with, in Base64.
    pub key_sha256: String,
    /// Empty unless it was asked for.
    pub metadata: Vec<(String, String)>,
    /// Empty unless they were asked for.
    pub tags: Vec<(String, String)>,
}

/// A blob that a search by index tags found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredFoundBlob {
    /// The name of the blob.
    pub name: String,
    /// The name of its container.
    pub container: String,
    /// The tags that the expression names, with their values.
    pub tags: Vec<(String, String)>,
}

/// Parses the response to Find Blobs by Tags.
pub fn parse_found_blobs(document: &[u8]) -> Result<AnsweredPage<AnsweredFoundBlob>, ServiceError> {
    parse_page(document, "Blobs", |element| {
        Ok(AnsweredFoundBlob {
            name: element.required("Name")?.name_text()?,
            container: element.required("ContainerName")?.text()?.to_owned(),
            tags: tags(element)?,
        })
    })
}

/// Parses the response to List Containers.
pub fn parse_containers(document: &[u8]) -> Result<AnsweredPage<AnsweredContainer>, ServiceError> {
    parse_page(document, "Containers", |element| {
        Ok(AnsweredContainer { name: element.required("Name")?.name_text()?, metadata: metadata(element)? })
    })
}

/// Parses the response to List Queues.
pub fn parse_queues(document: &[u8]) -> Result<AnsweredPage<AnsweredQueue>, ServiceError> {
    parse_page(document, "Queues", |element| {
        Ok(AnsweredQueue { name: element.required("Name")?.name_text()?, metadata: metadata(element)? })
    })
}

/// Parses the response to a flat List Blobs.
pub fn parse_blobs(document: &[u8]) -> Result<AnsweredPage<AnsweredBlob>, ServiceError> {
    parse_page(document, "Blobs", AnsweredBlob::read)
}

impl AnsweredBlob {
    fn read(element: &Element) -> Result<Self, ServiceError> {
        let properties = element.required("Properties")?;
        let text = |name: &str| properties.child(name).map(Element::text).transpose().map(Option::unwrap_or_default);
        let own = |name: &str| text(name).map(str::to_owned);
        Ok(Self {
            name: element.required("Name")?.name_text()?,
            snapshot: element.child("Snapshot").map(|snapshot| snapshot.text().map(str::to_owned)).transpose()?,
            blob_type: own("BlobType")?,
            etag: own("Etag")?,
            length: properties.child("Content-Length").map(Element::number).transpose()?.unwrap_or_default(),
            content_type: own("Content-Type")?,
            content_encoding: own("Content-Encoding")?,
            content_language: own("Content-Language")?,
            content_md5: own("Content-MD5")?,
            cache_control: own("Cache-Control")?,
            content_disposition: own("Content-Disposition")?,
            access_tier: own("AccessTier")?,
            is_tier_inferred: text("AccessTierInferred")? == "true",
            is_sealed: text("Sealed")? == "true",
            sequence_number: properties.child(SEQUENCE_NUMBER).map(Element::number).transpose()?.unwrap_or_default(),
            key_sha256: own("CustomerProvidedKeySha256")?,
            metadata: metadata(element)?,
            tags: tags(element)?,
        })
    }
}

fn parse_page<T>(
    document: &[u8],
    list: &str,
    read: impl Fn(&Element) -> Result<T, ServiceError>,
) -> Result<AnsweredPage<T>, ServiceError> {
    let root = Element::parse_within(document, LIST_BYTES_MAX)?;
    if !root.is_named("EnumerationResults") {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    let items = root.required(list)?.children().iter().map(read).collect::<Result<_, _>>()?;
    let next_marker = root.child("NextMarker").map(Element::value).transpose()?.flatten();
    Ok(AnsweredPage { items, next_marker: next_marker.map(str::to_owned) })
}

fn tags(element: &Element) -> Result<Vec<(String, String)>, ServiceError> {
    let set = element.child("Tags").and_then(|tags| tags.child("TagSet"));
    let read = |tag: &Element| Ok((tag.required("Key")?.text()?.to_owned(), tag.required("Value")?.text()?.to_owned()));
    set.map(Element::children).unwrap_or_default().iter().map(read).collect()
}

fn metadata(element: &Element) -> Result<Vec<(String, String)>, ServiceError> {
    let pairs = element.child("Metadata").map(Element::children).unwrap_or_default().iter();
    pairs.map(|pair| Ok((pair.name().to_owned(), pair.text()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metadata;
    use crate::xml::{ListEcho, ListedBlob, ListedContainer, QueueListing, render_blobs, render_containers};

    fn pairs() -> Vec<(String, String)> {
        vec![("Color".to_owned(), "a & b".to_owned())]
    }

    #[test]
    fn containers_and_queues_are_read_with_their_metadata() {
        let metadata = Metadata::new(pairs()).unwrap();
        let containers = [ListedContainer { name: "c1", properties: Vec::new(), metadata: Some(&metadata) }];
        let document = render_containers("http://h/", &ListEcho::default(), &containers, "/a/c2");
        let read = parse_containers(document.as_bytes()).unwrap();
        assert_eq!(read.items, [AnsweredContainer { name: "c1".to_owned(), metadata: pairs() }]);
        assert_eq!(read.next_marker.as_deref(), Some("/a/c2"));

        let queues = vec![("q1", Some(&metadata)), ("q2", None)];
        let document = QueueListing { queues, ..QueueListing::default() }.render();
        let read = parse_queues(document.as_bytes()).unwrap();
        let names: Vec<_> = read.items.iter().map(|queue| (queue.name.as_str(), queue.metadata.len())).collect();
        assert_eq!((names, read.next_marker), (vec![("q1", 1), ("q2", 0)], None));
    }

    #[test]
    fn blobs_are_read_with_names_that_xml_cannot_write() {
        let blob = |name, snapshot| ListedBlob::Blob {
            name,
            snapshot,
            properties: vec![
                ("Etag", "0x8D6".to_owned()),
                ("Content-Length", "7".to_owned()),
                ("Content-Type", "text/plain".to_owned()),
                ("Content-MD5", String::new()),
                ("BlobType", "BlockBlob".to_owned()),
            ],
            metadata: None,
            is_metadata_encrypted: false,
            tags: None,
        };
        let entries = [blob(" a%41 ", None), blob("a\u{1}é", Some("2019-05-09T00:48:31.3653282Z".to_owned()))];
        let document = render_blobs("http://h/", "c", &ListEcho::default(), &entries, "");
        let read = parse_blobs(document.as_bytes()).unwrap();
        let [first, second] = read.items.as_slice() else { panic!("{read:?}") };
        assert_eq!((first.name.as_str(), first.length, first.etag.as_str()), (" a%41 ", 7, "0x8D6"));
        assert_eq!((first.blob_type.as_str(), first.content_type.as_str()), ("BlockBlob", "text/plain"));
        assert_eq!((second.name.as_str(), second.snapshot.is_some()), ("a\u{1}é", true));
        assert_eq!(read.next_marker, None);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        assert!(parse_blobs(b"<Other />").is_err());
        assert!(parse_blobs(b"<EnumerationResults><Containers /></EnumerationResults>").is_err());
    }
}
