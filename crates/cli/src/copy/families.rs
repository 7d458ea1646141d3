//! Blobs with their snapshots, as a copy treats them.
//!
//! A list has the snapshots of a blob before it, oldest first, and a page may end between them. A copy needs all of them, in
//! order: it writes each as the blob and takes a snapshot of that.

use tablerock_client::blob::{BlobItem, ListBlobs};
use tablerock_client::{ContainerClient, Page, Request};

/// A blob and its snapshots, oldest first.
#[derive(Debug, Clone)]
pub(super) struct Family {
    pub(super) blob: BlobItem,
    pub(super) snapshots: Vec<BlobItem>,
}

impl Family {
    /// The bytes of the blob and its snapshots. The length of a page blob says little about its pages, so it counts nothing.
    pub(super) fn bytes(&self) -> u64 {
        let versions = self.snapshots.iter().chain([&self.blob]);
        versions.filter(|version| version.blob_type != "PageBlob").map(|version| version.length).sum()
    }

    /// Returns a text that identifies the versions of all.
    pub(super) fn version(&self) -> String {
        let BlobItem { etag, length, content_md5, .. } = &self.blob;
        let snapshots = self.snapshots.iter().filter_map(|snapshot| snapshot.snapshot.as_deref());
        [&format!("{etag} {length} {content_md5}")]
            .into_iter()
            .map(String::as_str)
            .chain(snapshots)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A list of everything that a copy reads.
pub(super) fn listing(container: &ContainerClient, with_tags: bool) -> Request<Page<BlobItem>, ListBlobs> {
    let listing = container.list_blobs().include_snapshots();
    if with_tags { listing.include_tags() } else { listing }
}

/// Groups the items of a page by their names, in their order.
pub(super) fn by_name(page: Vec<BlobItem>) -> Vec<Vec<BlobItem>> {
    let mut groups: Vec<Vec<BlobItem>> = Vec::new();
    for item in page {
        match groups.last_mut() {
            Some(group) if group[0].name == item.name => group.push(item),
            _ => groups.push(vec![item]),
        }
    }
    groups
}

/// Makes a family of the items of one name; `None` if its blob is not among them.
pub(super) fn family(mut items: Vec<BlobItem>) -> Option<Family> {
    let blob = items.pop().filter(|last| last.snapshot.is_none())?;
    Some(Family { blob, snapshots: items })
}

/// Returns all items of one name, from however many pages.
pub(super) async fn items_of(
    container: &ContainerClient,
    name: &str,
    with_tags: bool,
) -> tablerock_client::Result<Vec<BlobItem>> {
    let listing = listing(container, with_tags).prefix(name);
    let (mut items, mut next) = (Vec::new(), None);
    loop {
        let page = listing.page(next.as_ref()).await?;
        let is_over = page.items.iter().any(|item| item.name != name);
        // Names that begin with this one come behind it.
        items.extend(page.items.into_iter().filter(|item| item.name == name));
        next = page.continuation_token;
        if is_over || next.is_none() {
            return Ok(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, snapshot: Option<&str>) -> BlobItem {
        BlobItem { name: name.to_owned(), snapshot: snapshot.map(str::to_owned), length: 2, ..BlobItem::default() }
    }

    #[test]
    fn snapshots_belong_to_the_blob_behind_them() {
        let page =
            vec![item("a", Some("1")), item("a", Some("2")), item("a", None), item("b", None), item("c", Some("3"))];
        let groups = by_name(page);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1, 1]);
        let mut families = groups.into_iter().map(family);
        let first = families.next().flatten().unwrap();
        assert_eq!((first.snapshots.len(), first.bytes()), (2, 6));
        assert!(first.version().ends_with(" 1 2"), "{}", first.version());
        assert!(families.next().flatten().unwrap().snapshots.is_empty());
        assert!(families.next().unwrap().is_none(), "its blob is on the next page");
    }
}
