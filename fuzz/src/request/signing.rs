//! The signatures that a harness adds: Shared Key of each service, and the one that a SAS leaves a place for.

use http::HeaderMap;
use tablerock_protocol::signing::{
    AccountKey, AccountSas, BlobSas, BlobSasTarget, HeaderRequestParts, QueueSas, SasParameters, SharedKeyScheme,
    TableRequestParts, TableServiceSas,
};
use tablerock_protocol::{BlobResource, QueryString, QueueResource, Service, ServiceVersion};

use crate::known_table::ACCOUNT;

/// Stands in an input where a SAS has its signature.
pub(super) const SIGNATURE_PLACE: &str = "sig=ours";
/// Of a request to a queue or blob that names none.
pub(super) const VERSION: &str = "2021-12-02";

/// The parts of a request to some service that are signed.
pub(super) struct Signed<'a> {
    pub(super) service: Service,
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) body_length: Option<usize>,
    /// The present, in the words of HTTP.
    pub(super) date: &'a str,
}

impl Signed<'_> {
    /// The headers that are missing, and the credential.
    pub(super) fn headers(&self, key: &AccountKey) -> Vec<(&'static str, String)> {
        let header = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        let given = header("x-ms-date").or_else(|| header("date"));
        let mut added = Vec::new();
        if given.is_none() {
            added.push(("x-ms-date", self.date.to_owned()));
        }
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let query = QueryString::parse(query).unwrap_or_default();
        let authorization = if self.service == Service::Table {
            let parts = TableRequestParts {
                method: self.method,
                content_md5: header("content-md5").unwrap_or_default(),
                content_type: header("content-type").unwrap_or_default(),
                date: given.unwrap_or(self.date),
                account: ACCOUNT,
                path,
                comp: query.raw_value("comp"),
            };
            parts.authorization(SharedKeyScheme::SharedKey, key)
        } else {
            if header("x-ms-version").is_none() {
                added.push(("x-ms-version", VERSION.to_owned()));
            }
            self.with_headers(path, &query, &added, key)
        };
        added.push(("authorization", authorization));
        added
    }

    fn with_headers(&self, path: &str, query: &QueryString<'_>, added: &[(&str, String)], key: &AccountKey) -> String {
        let length = self.body_length.map(|length| length.to_string());
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), text(value)));
        let all = own.chain(added.iter().map(|(name, value)| (*name, value.clone())));
        let all: Vec<(&str, String)> = all.chain(length.map(|length| ("content-length", length))).collect();
        let headers: Vec<(&str, &str)> = all.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let version = headers.iter().find(|(name, _)| *name == "x-ms-version");
        let version = version.and_then(|(_, value)| value.parse().ok()).unwrap_or(ServiceVersion::LATEST);
        let parts =
            HeaderRequestParts { method: self.method, account: ACCOUNT, path, query, headers: &headers, version };
        parts.authorization(SharedKeyScheme::SharedKey, key)
    }
}

/// The string that the SAS in a target is the signature of.
pub(super) fn sas_string(service: Service, path: &str, query: &QueryString<'_>) -> Option<String> {
    let pairs = || query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
    if service == Service::Table {
        return Some(match TableServiceSas::parse(pairs()).ok()?? {
            TableServiceSas::Account(sas) => sas.string_to_sign(ACCOUNT),
            TableServiceSas::Table(sas) => sas.string_to_sign(ACCOUNT),
        });
    }
    let parameters = SasParameters::collect(pairs()).ok()??;
    if parameters.is_account_sas() {
        return Some(AccountSas::parse(parameters).ok()?.string_to_sign(ACCOUNT));
    }
    let below = path.strip_prefix('/')?.strip_prefix(ACCOUNT)?;
    let below = below.strip_prefix("-secondary").unwrap_or(below);
    if service == Service::Queue {
        let resource = QueueResource::parse(below).ok()?;
        return Some(QueueSas::parse(parameters).ok()?.string_to_sign(ACCOUNT, resource.queue()?));
    }
    let resource = BlobResource::parse(below, query.value("restype").is_some()).ok()?;
    let blob = if let BlobResource::Blob { blob, .. } = &resource { Some(blob) } else { None };
    let target = BlobSasTarget {
        container: resource.container()?,
        blob,
        snapshot: query.value("snapshot"),
        version: query.value("versionid"),
    };
    Some(BlobSas::parse(parameters).ok()?.string_to_sign(ACCOUNT, &target))
}
