//! A container of the case's own, and the usual requests on it and on blobs in it.

use crate::encode::percent;
use crate::expect::Outcome;
use crate::request::Request;
use crate::response::Response;
use crate::sas::BlobSas;
use crate::session::Session;

#[derive(Debug)]
pub struct Container<'s> {
    session: &'s Session,
    pub name: String,
}

impl<'s> Container<'s> {
    pub fn new(session: &'s Session, name: String) -> Self {
        Self { session, name }
    }

    /// A request on the container itself.
    pub fn request(&self, verb: &str) -> Outcome<Request<'s>> {
        Ok(self.session.to_blobs(verb, format!("/{}", self.name))?.raw_query("restype=container"))
    }

    /// A request on a part of it.
    pub fn on(&self, verb: &str, comp: &str) -> Outcome<Request<'s>> {
        Ok(self.request(verb)?.query("comp", comp))
    }

    /// A request on a blob.
    pub fn blob(&self, verb: &str, name: &str) -> Outcome<Request<'s>> {
        self.session.to_blobs(verb, format!("/{}/{}", self.name, percent(name)))
    }

    /// A request on a part of a blob.
    pub fn blob_on(&self, verb: &str, name: &str, comp: &str) -> Outcome<Request<'s>> {
        Ok(self.blob(verb, name)?.query("comp", comp))
    }

    pub fn create(&self) -> Outcome<Request<'s>> {
        self.request("PUT")
    }

    pub fn put(&self, name: &str, content: impl Into<Vec<u8>>) -> Outcome<Request<'s>> {
        Ok(self.blob("PUT", name)?.header("x-ms-blob-type", "BlockBlob").body(content))
    }

    pub fn put_block(&self, name: &str, id: &str, content: &str) -> Outcome<Request<'s>> {
        Ok(self.blob_on("PUT", name, "block")?.query("blockid", id).body(content))
    }

    pub fn put_list(&self, name: &str, list: &str) -> Outcome<Request<'s>> {
        Ok(self.blob_on("PUT", name, "blocklist")?.body(format!("<BlockList>{list}</BlockList>")))
    }

    pub fn create_append(&self, name: &str) -> Outcome<Request<'s>> {
        Ok(self.blob("PUT", name)?.header("x-ms-blob-type", "AppendBlob"))
    }

    pub fn append(&self, name: &str, content: &str) -> Outcome<Request<'s>> {
        Ok(self.blob_on("PUT", name, "appendblock")?.body(content))
    }

    pub fn create_pages(&self, name: &str, length: u64) -> Outcome<Request<'s>> {
        let put = self.blob("PUT", name)?.header("x-ms-blob-type", "PageBlob");
        Ok(put.header("x-ms-blob-content-length", &length.to_string()))
    }

    /// Pages from an offset on, each filled with one byte.
    pub fn put_pages(&self, name: &str, offset: u64, pages: &[u8]) -> Outcome<Request<'s>> {
        let body: Vec<u8> = pages.iter().flat_map(|byte| [*byte; 512]).collect();
        let put = self.write_pages(name, "update", offset, body.len() as u64)?;
        Ok(put.body(body))
    }

    pub fn clear_pages(&self, name: &str, offset: u64, length: u64) -> Outcome<Request<'s>> {
        self.write_pages(name, "clear", offset, length)
    }

    fn write_pages(&self, name: &str, write: &str, offset: u64, length: u64) -> Outcome<Request<'s>> {
        let put = self.blob_on("PUT", name, "page")?.header("x-ms-page-write", write);
        Ok(put.header("x-ms-range", &format!("bytes={offset}-{}", offset + length - 1)))
    }

    /// The ranges of a page blob, as `first-last`, cleared ones with a minus before them.
    pub async fn page_ranges(&self, name: &str, query: &str) -> Outcome<Vec<String>> {
        let list = self.blob_on("GET", name, "pagelist")?.raw_query(query).send().await?;
        page_ranges(&list)
    }

    /// Takes a snapshot, and returns its id.
    pub async fn snapshot(&self, name: &str) -> Outcome<String> {
        let taken = self.blob_on("PUT", name, "snapshot")?.send().await?;
        Ok(taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned())
    }

    /// An action on the lease of a blob.
    pub fn lease(&self, name: &str, action: &str) -> Outcome<Request<'s>> {
        Ok(self.blob_on("PUT", name, "lease")?.header("x-ms-lease-action", action))
    }

    /// An action on the lease of the container.
    pub fn own_lease(&self, action: &str) -> Outcome<Request<'s>> {
        Ok(self.on("PUT", "lease")?.header("x-ms-lease-action", action))
    }

    /// Puts a blob that must be accepted, and returns its ETag.
    pub async fn seed(&self, name: &str, content: impl Into<Vec<u8>>) -> Outcome<String> {
        self.put(name, content)?.send().await?.expect(201)?.etag()
    }

    /// The content of a blob that must be there.
    pub async fn content(&self, name: &str) -> Outcome<String> {
        Ok(self.blob("GET", name)?.send().await?.expect(200)?.text())
    }

    /// The names of a list, prefixes with a star behind them.
    pub async fn names(&self, query: &str) -> Outcome<Vec<String>> {
        names(&self.on("GET", "list")?.raw_query(query).send().await?)
    }

    /// The address of a blob, as a copy takes it.
    pub fn url(&self, name: &str) -> String {
        let blob = self.session.target().blob.as_ref();
        let base = blob.map(|blob| blob.primary.base()).unwrap_or_default();
        format!("{base}/{}/{}", self.name, percent(name))
    }

    /// The address of a blob with a SAS that may read it and its tags.
    pub fn readable_url(&self, name: &str) -> String {
        let token = BlobSas::of_blob(&self.name, name, "rt").query(self.session.target());
        format!("{}?{token}", self.url(name))
    }
}

/// The ranges of a list, as `first-last`, cleared ones with a minus before them.
pub fn page_ranges(list: &Response) -> Outcome<Vec<String>> {
    let root = list.expect(200)?.xml()?;
    let ranges = root.children.iter().filter(|range| range.name != "NextMarker").map(|range| {
        let sign = if range.name == "ClearRange" { "-" } else { "" };
        format!("{sign}{}-{}", range.at("Start").unwrap_or_default(), range.at("End").unwrap_or_default())
    });
    Ok(ranges.collect())
}

/// The names of a list of blobs, prefixes with a star behind them.
pub fn names(listing: &Response) -> Outcome<Vec<String>> {
    let root = listing.expect(200)?.xml()?;
    let blobs = root.child("Blobs").map(|blobs| blobs.children.as_slice()).unwrap_or_default();
    let name = |entry: &crate::xml::Element| {
        let star = if entry.name == "BlobPrefix" { "*" } else { "" };
        format!("{}{star}", entry.at("Name").unwrap_or_default())
    };
    Ok(blobs.iter().map(name).collect())
}
