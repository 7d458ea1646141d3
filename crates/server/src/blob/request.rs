//! Requests to the Blob service: method, path, query and a few headers become an operation with its target.

use http::{HeaderMap, HeaderName};
use tablerock_protocol::{BlobName, BlobResource, ContainerName, Keyword, QueryString, ServiceError};

use crate::auth::requests;
use crate::http::headers::{BLOB_TYPE, COPY_SOURCE, Given, LEASE_ACTION, PAGE_WRITE, REQUIRES_SYNC};
use crate::http::verb::{Verb, unknown_parameter, unsupported_verb};

/// A blob in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlobTarget<'a> {
    pub(crate) container: &'a ContainerName,
    pub(crate) blob: &'a BlobName,
}

/// The action of a lease operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseVerb {
    Acquire,
    Renew,
    Change,
    Release,
    Break,
}

requests! {
    /// A request to the Blob service. Batches and searches are about one container, or all.
    BlobRequest {
        ListContainers GetAccountInformation GetUserDelegationKey GetBlobServiceProperties SetBlobServiceProperties
        GetBlobServiceStats BlobPreflightRequest
        CreateContainer(&'a ContainerName) DeleteContainer(&'a ContainerName) GetContainerProperties(&'a ContainerName)
        GetContainerMetadata(&'a ContainerName) SetContainerMetadata(&'a ContainerName)
        GetContainerACL(&'a ContainerName) SetContainerACL(&'a ContainerName) UndeleteContainer(&'a ContainerName)
        ListBlobs(&'a ContainerName) AcquireContainerLease(&'a ContainerName) RenewContainerLease(&'a ContainerName)
        ChangeContainerLease(&'a ContainerName) ReleaseContainerLease(&'a ContainerName)
        BreakContainerLease(&'a ContainerName)
        FindBlobsByTags(Option<&'a ContainerName>) BlobBatch(Option<&'a ContainerName>)
        PutBlob(BlobTarget<'a>) PutBlobFromURL(BlobTarget<'a>) GetBlob(BlobTarget<'a>)
        GetBlobProperties(BlobTarget<'a>) SetBlobProperties(BlobTarget<'a>) GetBlobMetadata(BlobTarget<'a>)
        SetBlobMetadata(BlobTarget<'a>) DeleteBlob(BlobTarget<'a>) UndeleteBlob(BlobTarget<'a>)
        PutBlock(BlobTarget<'a>) PutBlockFromURL(BlobTarget<'a>) PutBlockList(BlobTarget<'a>)
        GetBlockList(BlobTarget<'a>) AppendBlock(BlobTarget<'a>) AppendBlockFromURL(BlobTarget<'a>)
        SealBlob(BlobTarget<'a>) PutPage(BlobTarget<'a>) PutPageFromURL(BlobTarget<'a>) ClearPage(BlobTarget<'a>)
        GetPageRanges(BlobTarget<'a>) SnapshotBlob(BlobTarget<'a>) CopyBlob(BlobTarget<'a>)
        CopyBlobFromURL(BlobTarget<'a>) AbortCopyBlob(BlobTarget<'a>) IncrementalCopyBlob(BlobTarget<'a>)
        SetBlobTier(BlobTarget<'a>) GetBlobTags(BlobTarget<'a>) SetBlobTags(BlobTarget<'a>)
        SetBlobExpiry(BlobTarget<'a>) QueryBlobContents(BlobTarget<'a>) AcquireBlobLease(BlobTarget<'a>)
        RenewBlobLease(BlobTarget<'a>) ChangeBlobLease(BlobTarget<'a>) ReleaseBlobLease(BlobTarget<'a>)
        BreakBlobLease(BlobTarget<'a>)
    }
}

impl<'a> BlobRequest<'a> {
    pub(crate) fn parse(
        verb: Verb,
        resource: &'a BlobResource,
        query: &QueryString<'_>,
        headers: &HeaderMap,
    ) -> Result<Self, ServiceError> {
        if verb == Verb::Options {
            return Ok(Self::BlobPreflightRequest);
        }
        let (restype, comp) = (query.keyword("restype"), query.keyword("comp"));
        let (restype, comp) = (restype.as_deref(), comp.as_deref());
        if (restype, comp) == (Some("account"), Some("properties")) {
            return match verb {
                Verb::Get | Verb::Head => Ok(Self::GetAccountInformation),
                _ => Err(unsupported_verb()),
            };
        }
        match (resource, restype) {
            (BlobResource::Service, _) => Self::parse_service(verb, query),
            (BlobResource::Container { container }, Some("container")) => {
                Self::parse_container(verb, container, query, headers)
            }
            (BlobResource::Container { .. }, None) => Err(ServiceError::missing_parameter("restype")),
            (BlobResource::Blob { container, blob }, None) => {
                Self::parse_blob(verb, BlobTarget { container, blob }, query, headers)
            }
            (BlobResource::Container { .. } | BlobResource::Blob { .. }, Some(restype)) => {
                Err(ServiceError::invalid_parameter("restype", restype, "The resource is of no such type."))
            }
        }
    }

    fn parse_service(verb: Verb, query: &QueryString<'_>) -> Result<Self, ServiceError> {
        Ok(match (query.keyword("restype").as_deref(), query.keyword("comp").as_deref(), verb) {
            (None, Some("list"), Verb::Get) => Self::ListContainers,
            (None, Some("blobs"), Verb::Get) => Self::FindBlobsByTags(None),
            // The library for JavaScript takes the account in a path-style address for a container.
            (None | Some("container"), Some("batch"), Verb::Post) => Self::BlobBatch(None),
            (Some("service"), Some("properties"), Verb::Get) => Self::GetBlobServiceProperties,
            (Some("service"), Some("properties"), Verb::Put) => Self::SetBlobServiceProperties,
            (Some("service"), Some("stats"), Verb::Get) => Self::GetBlobServiceStats,
            (Some("service"), Some("userdelegationkey"), Verb::Post) => Self::GetUserDelegationKey,
            (None, Some("list" | "blobs" | "batch"), _)
            | (Some("container"), Some("batch"), _)
            | (Some("service"), Some("properties" | "stats" | "userdelegationkey"), _) => {
                return Err(unsupported_verb());
            }
            (None, Some("properties" | "stats"), _) => return Err(ServiceError::missing_parameter("restype")),
            _ => return Err(unknown_parameter(query)),
        })
    }

    fn parse_container(
        verb: Verb,
        container: &'a ContainerName,
        query: &QueryString<'_>,
        headers: &HeaderMap,
    ) -> Result<Self, ServiceError> {
        Ok(match (query.keyword("comp").as_deref(), verb) {
            (None, Verb::Put) => Self::CreateContainer(container),
            (None, Verb::Get | Verb::Head) => Self::GetContainerProperties(container),
            (None, Verb::Delete) => Self::DeleteContainer(container),
            (Some("list"), Verb::Get) => Self::ListBlobs(container),
            (Some("metadata"), Verb::Get | Verb::Head) => Self::GetContainerMetadata(container),
            (Some("metadata"), Verb::Put) => Self::SetContainerMetadata(container),
            (Some("acl"), Verb::Get | Verb::Head) => Self::GetContainerACL(container),
            (Some("acl"), Verb::Put) => Self::SetContainerACL(container),
            (Some("lease"), Verb::Put) => match LeaseVerb::read(headers)? {
                LeaseVerb::Acquire => Self::AcquireContainerLease(container),
                LeaseVerb::Renew => Self::RenewContainerLease(container),
                LeaseVerb::Change => Self::ChangeContainerLease(container),
                LeaseVerb::Release => Self::ReleaseContainerLease(container),
                LeaseVerb::Break => Self::BreakContainerLease(container),
            },
            (Some("undelete"), Verb::Put) => Self::UndeleteContainer(container),
            (Some("blobs"), Verb::Get) => Self::FindBlobsByTags(Some(container)),
            (Some("batch"), Verb::Post) => Self::BlobBatch(Some(container)),
            (None | Some("list" | "metadata" | "acl" | "lease" | "undelete" | "blobs" | "batch"), _) => {
                return Err(unsupported_verb());
            }
            _ => return Err(unknown_parameter(query)),
        })
    }

    fn parse_blob(
        verb: Verb,
        at: BlobTarget<'a>,
        query: &QueryString<'_>,
        headers: &HeaderMap,
    ) -> Result<Self, ServiceError> {
        let from_url = headers.given(&COPY_SOURCE).is_some();
        Ok(match (query.keyword("comp").as_deref(), verb) {
            (None, Verb::Get) => Self::GetBlob(at),
            (None, Verb::Head) => Self::GetBlobProperties(at),
            (None, Verb::Delete) => Self::DeleteBlob(at),
            (None, Verb::Put) => Self::parse_put(at, headers),
            (Some("block"), Verb::Put) if from_url => Self::PutBlockFromURL(at),
            (Some("block"), Verb::Put) => Self::PutBlock(at),
            (Some("blocklist"), Verb::Put) => Self::PutBlockList(at),
            (Some("blocklist"), Verb::Get) => Self::GetBlockList(at),
            (Some("appendblock"), Verb::Put) if from_url => Self::AppendBlockFromURL(at),
            (Some("appendblock"), Verb::Put) => Self::AppendBlock(at),
            (Some("seal"), Verb::Put) => Self::SealBlob(at),
            (Some("page"), Verb::Put) if from_url => Self::PutPageFromURL(at),
            (Some("page"), Verb::Put) if has(headers, &PAGE_WRITE, "clear") => Self::ClearPage(at),
            (Some("page"), Verb::Put) => Self::PutPage(at),
            (Some("pagelist"), Verb::Get) => Self::GetPageRanges(at),
            (Some("metadata"), Verb::Get | Verb::Head) => Self::GetBlobMetadata(at),
            (Some("metadata"), Verb::Put) => Self::SetBlobMetadata(at),
            (Some("properties"), Verb::Put) => Self::SetBlobProperties(at),
            (Some("lease"), Verb::Put) => match LeaseVerb::read(headers)? {
                LeaseVerb::Acquire => Self::AcquireBlobLease(at),
                LeaseVerb::Renew => Self::RenewBlobLease(at),
                LeaseVerb::Change => Self::ChangeBlobLease(at),
                LeaseVerb::Release => Self::ReleaseBlobLease(at),
                LeaseVerb::Break => Self::BreakBlobLease(at),
            },
            (Some("snapshot"), Verb::Put) => Self::SnapshotBlob(at),
            (Some("undelete"), Verb::Put) => Self::UndeleteBlob(at),
            (Some("copy"), Verb::Put) => Self::AbortCopyBlob(at),
            (Some("incrementalcopy"), Verb::Put) => Self::IncrementalCopyBlob(at),
            (Some("tier"), Verb::Put) => Self::SetBlobTier(at),
            (Some("tags"), Verb::Get) => Self::GetBlobTags(at),
            (Some("tags"), Verb::Put) => Self::SetBlobTags(at),
            (Some("expiry"), Verb::Put) => Self::SetBlobExpiry(at),
            (Some("query"), Verb::Post) => Self::QueryBlobContents(at),
            (
                None
                | Some(
                    "block" | "blocklist" | "appendblock" | "seal" | "page" | "pagelist" | "metadata" | "properties"
                    | "lease" | "snapshot" | "undelete" | "copy" | "incrementalcopy" | "tier" | "tags" | "expiry"
                    | "query",
                ),
                _,
            ) => return Err(unsupported_verb()),
            _ => return Err(unknown_parameter(query)),
        })
    }

    /// A blob is put from the body, or from another blob: at once, or as a copy that may take its time.
    fn parse_put(at: BlobTarget<'a>, headers: &HeaderMap) -> Self {
        if headers.given(&COPY_SOURCE).is_none() {
            Self::PutBlob(at)
        } else if headers.given(&BLOB_TYPE).is_some() {
            Self::PutBlobFromURL(at)
        } else if has(headers, &REQUIRES_SYNC, "true") {
            Self::CopyBlobFromURL(at)
        } else {
            Self::CopyBlob(at)
        }
    }
}

impl LeaseVerb {
    fn read(headers: &HeaderMap) -> Result<Self, ServiceError> {
        let header = headers.given(&LEASE_ACTION).ok_or_else(|| ServiceError::missing_header(LEASE_ACTION.as_str()))?;
        let action = header.to_str().unwrap_or_default();
        Self::parse_keyword(action).ok_or_else(|| ServiceError::invalid_header(LEASE_ACTION.as_str(), action))
    }
}

impl Keyword for LeaseVerb {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("acquire", Self::Acquire),
        ("renew", Self::Renew),
        ("change", Self::Change),
        ("release", Self::Release),
        ("break", Self::Break),
    ];
}

fn has(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    headers.given(name).is_some_and(|header| header.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use crate::auth::Request;
    use crate::operation::Operation;
    use http::HeaderValue;
    use tablerock_protocol::ErrorCode;

    use super::*;

    fn parsed(request: &str, headers: &[(&'static str, &'static str)]) -> Result<Operation, ErrorCode> {
        let (verb, target) = request.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = QueryString::parse(query).unwrap();
        let resource = BlobResource::parse(path, query.value("restype").is_some()).unwrap();
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers: HeaderMap = headers.collect();
        let request = BlobRequest::parse(Verb::parse(verb).unwrap(), &resource, &query, &headers);
        request.map(|request| request.operation()).map_err(|error| error.code)
    }

    #[test]
    fn method_path_and_query_name_the_operation() {
        use Operation::*;
        for (request, expected) in [
            ("GET /?comp=list", ListContainers),
            ("GET /?restype=service&comp=properties", GetBlobServiceProperties),
            ("HEAD /?restype=account&comp=properties", GetAccountInformation),
            ("GET /photos/a?restype=account&comp=properties", GetAccountInformation),
            ("GET /photos?restype=account&comp=properties", GetAccountInformation),
            ("POST /?comp=batch", BlobBatch),
            ("POST /?restype=container&comp=batch", BlobBatch),
            ("POST /photos?restype=container&comp=batch", BlobBatch),
            ("GET /?comp=blobs&where=x", FindBlobsByTags),
            ("PUT /photos?restype=container", CreateContainer),
            ("HEAD /photos?restype=container", GetContainerProperties),
            ("DELETE /photos?restype=container", DeleteContainer),
            ("GET /photos?restype=container&comp=list", ListBlobs),
            ("PUT /photos?restype=container&comp=acl", SetContainerACL),
            ("PUT /photos/a/b", PutBlob),
            ("PUT /a.txt", PutBlob),
            ("GET /photos/a", GetBlob),
            ("HEAD /photos/a", GetBlobProperties),
            ("DELETE /photos/a?snapshot=2019-05-09T00:48:31.3653282Z", DeleteBlob),
            ("PUT /photos/a?comp=block&blockid=QQ==", PutBlock),
            ("PUT /photos/a?comp=blocklist", PutBlockList),
            ("GET /photos/a?comp=blocklist&blocklisttype=all", GetBlockList),
            ("PUT /photos/a?comp=appendblock", AppendBlock),
            ("PUT /photos/a?comp=properties", SetBlobProperties),
            ("HEAD /photos/a?comp=metadata", GetBlobMetadata),
            ("PUT /photos/a?comp=tier", SetBlobTier),
            ("GET /photos/a?comp=pagelist", GetPageRanges),
            ("OPTIONS /photos/a", BlobPreflightRequest),
            ("PUT /photos?ResType=Container", CreateContainer),
            ("GET /photos?RESTYPE=CONTAINER&Comp=List", ListBlobs),
            ("PUT /photos/a?%43omp=Block&BlockId=QQ==", PutBlock),
        ] {
            assert_eq!(parsed(request, &[]), Ok(expected), "{request}");
        }
    }

    #[test]
    fn headers_tell_copies_leases_and_pages_apart() {
        use Operation::*;
        let source = ("x-ms-copy-source", "http://127.0.0.1:10000/devstoreaccount1/photos/b");
        for (request, headers, expected) in [
            ("PUT /photos/a", &[source][..], CopyBlob),
            ("PUT /photos/a", &[source, ("x-ms-requires-sync", "true")], CopyBlobFromURL),
            ("PUT /photos/a", &[source, ("x-ms-blob-type", "BlockBlob")], PutBlobFromURL),
            ("PUT /photos/a?comp=block&blockid=QQ==", &[source], PutBlockFromURL),
            ("PUT /photos/a?comp=page", &[("x-ms-page-write", "Clear")], ClearPage),
            ("PUT /photos/a?comp=page", &[("x-ms-page-write", "update")], PutPage),
            ("PUT /photos/a?comp=lease", &[("x-ms-lease-action", "renew")], RenewBlobLease),
            ("PUT /photos?restype=container&comp=lease", &[("x-ms-lease-action", "Break")], BreakContainerLease),
        ] {
            assert_eq!(parsed(request, headers), Ok(expected), "{request} {headers:?}");
        }
        assert_eq!(parsed("PUT /photos/a?comp=lease", &[]), Err(ErrorCode::MissingRequiredHeader));
        let steal = [("x-ms-lease-action", "steal")];
        assert_eq!(parsed("PUT /photos/a?comp=lease", &steal), Err(ErrorCode::InvalidHeaderValue));
    }

    #[test]
    fn unknown_methods_and_parameters_are_rejected() {
        for (request, code) in [
            ("GET /", ErrorCode::MissingRequiredQueryParameter),
            ("GET /photos/", ErrorCode::MissingRequiredQueryParameter),
            ("GET /?comp=list&Comp=list", ErrorCode::InvalidQueryParameterValue),
            ("GET /?comp=other", ErrorCode::InvalidQueryParameterValue),
            ("PUT /photos?restype=table", ErrorCode::InvalidQueryParameterValue),
            ("PUT /photos/a?restype=container", ErrorCode::InvalidQueryParameterValue),
            ("GET /photos/a?comp=other", ErrorCode::InvalidQueryParameterValue),
            ("POST /photos/a", ErrorCode::UnsupportedHttpVerb),
            ("DELETE /photos/a?comp=lease", ErrorCode::UnsupportedHttpVerb),
            ("POST /photos?restype=container", ErrorCode::UnsupportedHttpVerb),
        ] {
            assert_eq!(parsed(request, &[]), Err(code), "{request}");
        }
    }
}
