//! The six headers that describe a blob's content, which are set and replaced together.

use super::Md5;

/// The default of blobs.
pub const CONTENT_TYPE_DEFAULT: &str = "application/octet-stream";

/// The content headers of a blob. An empty header is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentHeaders {
    /// `Content-Type`.
    pub content_type: String,
    /// `Content-Encoding`.
    pub encoding: String,
    /// `Content-Language`.
    pub language: String,
    /// `Content-Disposition`.
    pub disposition: String,
    /// `Cache-Control`.
    pub cache_control: String,
    /// The MD5 that belongs to the content, as its writer gave it or as it was computed; never checked again.
    pub md5: Option<Md5>,
}
