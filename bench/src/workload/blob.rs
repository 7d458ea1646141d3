//! Block blobs that are put and got whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Client, Step, Workload, expect_status};
use crate::Result;
use crate::data::content::Content;
use crate::http::answer::Answer;
use crate::http::header_caller::{HeaderCall, HeaderCaller};
use crate::load;

const CONTAINER: &str = "/bench";
const HEADERS: &[(&str, &str)] = &[("x-ms-blob-type", "BlockBlob"), ("content-type", "application/octet-stream")];
/// Content up to this goes out with the head of its request, in one write.
const WITH_HEAD_BYTES_MAX: usize = 64 << 10;

/// Puts blobs, each under a name of its own; names go on from run to run.
#[derive(Debug)]
pub struct PutBlob {
    port: u16,
    content: Arc<Content>,
    next: Arc<AtomicU64>,
    /// The most blobs that one connection puts in one run.
    pub blobs_max: u64,
}

impl PutBlob {
    /// Creates the container that blobs are put into.
    pub fn begin(port: u16, content: Arc<Content>, blobs_max: u64) -> Result<Self> {
        let mut request = Vec::new();
        HeaderCaller::new(port)?.write(&HeaderCall::new("PUT", CONTAINER, "restype=container"), &mut request);
        load::set_up(port, &request, &[201])?;
        Ok(Self { port, content, next: Arc::default(), blobs_max })
    }
}

struct Putter {
    caller: HeaderCaller,
    content: Arc<Content>,
    next: Arc<AtomicU64>,
    blobs_left: u64,
    number: u64,
}

impl Workload for PutBlob {
    fn client(&self, _seed: u64) -> Result<Box<dyn Client>> {
        let (content, next) = (Arc::clone(&self.content), Arc::clone(&self.next));
        let caller = HeaderCaller::new(self.port)?;
        Ok(Box::new(Putter { caller, content, next, blobs_left: self.blobs_max, number: 0 }))
    }
}

impl Client for Putter {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(left) = self.blobs_left.checked_sub(1) else { return false };
        self.blobs_left = left;
        self.number = self.next.fetch_add(1, Ordering::Relaxed);
        let (resource, body_bytes) = (resource(self.number), self.content.length());
        let call = HeaderCall { headers: HEADERS, body_bytes, ..HeaderCall::new("PUT", &resource, "") };
        self.caller.write(&call, out);
        if body_bytes <= WITH_HEAD_BYTES_MAX {
            out.extend_from_slice(self.content.blob(self.number));
        }
        true
    }

    fn large_body(&self) -> &[u8] {
        if self.content.length() <= WITH_HEAD_BYTES_MAX { b"" } else { self.content.blob(self.number) }
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        expect_status(answer, 201)?;
        Ok(Step::Done)
    }
}

/// Gets blobs, any of those that are there with the same likelihood.
#[derive(Debug)]
pub struct GetBlob {
    pub port: u16,
    pub content: Arc<Content>,
    /// How many there are.
    pub blobs: u64,
    /// The most blobs that one connection gets in one run.
    pub gets_max: u64,
}

struct Getter {
    caller: HeaderCaller,
    content: Arc<Content>,
    blobs: u64,
    gets_left: u64,
    random: fastrand::Rng,
    number: u64,
}

impl Workload for GetBlob {
    fn client(&self, seed: u64) -> Result<Box<dyn Client>> {
        let (caller, content) = (HeaderCaller::new(self.port)?, Arc::clone(&self.content));
        let random = fastrand::Rng::with_seed(seed);
        Ok(Box::new(Getter { caller, content, blobs: self.blobs, gets_left: self.gets_max, random, number: 0 }))
    }
}

impl Client for Getter {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(left) = self.gets_left.checked_sub(1) else { return false };
        self.gets_left = left;
        self.number = self.random.u64(..self.blobs);
        self.caller.write(&HeaderCall::new("GET", &resource(self.number), ""), out);
        true
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        expect_status(answer, 200)?;
        let (expected, came) = (self.content.blob(self.number), answer.body_bytes);
        if came != expected.len() || !expected.starts_with(answer.body) {
            return Err(format!("a blob of {} bytes expected, but {came} came, or other ones", expected.len()));
        }
        Ok(Step::Done)
    }
}

fn resource(number: u64) -> String {
    format!("{CONTAINER}/b{number:09}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(length: usize) -> Box<dyn Client> {
        let (content, next) = (Arc::new(Content::of(length)), Arc::default());
        PutBlob { port: 1, content, next, blobs_max: 1 }.client(0).unwrap()
    }

    #[test]
    fn small_content_goes_out_with_its_head_and_large_content_behind_it() {
        for (length, behind) in [(WITH_HEAD_BYTES_MAX, 0), (WITH_HEAD_BYTES_MAX + 1, WITH_HEAD_BYTES_MAX + 1)] {
            let (mut client, mut out) = (put(length), Vec::new());
            assert!(client.next(&mut out));
            let head = memchr::memmem::find(&out, b"\r\n\r\n").unwrap() + 4;
            assert_eq!((out.len() - head, client.large_body().len()), (length - behind, behind));
            assert!(!client.next(&mut out));
        }
    }

    #[test]
    fn other_content_than_was_put_is_an_error() {
        let content = Arc::new(Content::of(100));
        let mut client = GetBlob { port: 1, content: Arc::clone(&content), blobs: 1, gets_max: 1 }.client(0).unwrap();
        assert!(client.next(&mut Vec::new()));
        let mut check = |body: &[u8], body_bytes| client.check(&Answer { status: 200, head: b"", body, body_bytes });
        assert_eq!(check(&content.blob(0)[..50], 100), Ok(Step::Done));
        assert!(check(&content.blob(0)[..50], 99).is_err());
        assert!(check(&content.blob(1)[..50], 100).is_err());
    }
}
