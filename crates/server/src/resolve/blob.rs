//! The operations of the Blob service, some of which only a header tells apart.

use http::{HeaderMap, HeaderName};
use tablerock_protocol::{BlobResource, QueryString, ServiceError};

use super::{Verb, unknown_parameter, unsupported_verb};
use crate::headers::{BLOB_TYPE, COPY_SOURCE, LEASE_ACTION, PAGE_WRITE, REQUIRES_SYNC};
use crate::operation::Operation;

/// Finds the operation.
pub(crate) fn resolve_blob(
    verb: Verb,
    resource: &BlobResource,
    query: &QueryString<'_>,
    headers: &HeaderMap,
) -> Result<Operation, ServiceError> {
    if verb == Verb::Options {
        return Ok(Operation::BlobPreflightRequest);
    }
    let (restype, comp) = (query.value("restype"), query.value("comp"));
    if (restype, comp) == (Some("account"), Some("properties")) {
        return match verb {
            Verb::Get | Verb::Head => Ok(Operation::GetAccountInformation),
            _ => Err(unsupported_verb()),
        };
    }
    match (resource, restype) {
        (BlobResource::Service, _) => resolve_service(verb, query),
        (BlobResource::Container { .. }, Some("container")) => resolve_container(verb, query, headers),
        (BlobResource::Container { .. }, None) => Err(ServiceError::missing_parameter("restype")),
        (BlobResource::Blob { .. }, None) => resolve_one(verb, query, headers),
        _ => Err(ServiceError::invalid_parameter(
            "restype",
            restype.unwrap_or_default(),
            "The resource is of no such type.",
        )),
    }
}

fn resolve_service(verb: Verb, query: &QueryString<'_>) -> Result<Operation, ServiceError> {
    use Operation::*;
    Ok(match (query.value("restype"), query.value("comp"), verb) {
        (None, Some("list"), Verb::Get) => ListContainers,
        (None, Some("blobs"), Verb::Get) => FindBlobsByTags,
        (None, Some("batch"), Verb::Post) => BlobBatch,
        (Some("service"), Some("properties"), Verb::Get) => GetBlobServiceProperties,
        (Some("service"), Some("properties"), Verb::Put) => SetBlobServiceProperties,
        (Some("service"), Some("stats"), Verb::Get) => GetBlobServiceStats,
        (Some("service"), Some("userdelegationkey"), Verb::Post) => GetUserDelegationKey,
        (None, Some("list" | "blobs" | "batch"), _)
        | (Some("service"), Some("properties" | "stats" | "userdelegationkey"), _) => return Err(unsupported_verb()),
        (None, Some("properties" | "stats"), _) => return Err(ServiceError::missing_parameter("restype")),
        _ => return Err(unknown_parameter(query)),
    })
}

fn resolve_container(verb: Verb, query: &QueryString<'_>, headers: &HeaderMap) -> Result<Operation, ServiceError> {
    use Operation::*;
    Ok(match (query.value("comp"), verb) {
        (None, Verb::Put) => CreateContainer,
        (None, Verb::Get | Verb::Head) => GetContainerProperties,
        (None, Verb::Delete) => DeleteContainer,
        (Some("list"), Verb::Get) => ListBlobs,
        (Some("metadata"), Verb::Get | Verb::Head) => GetContainerMetadata,
        (Some("metadata"), Verb::Put) => SetContainerMetadata,
        (Some("acl"), Verb::Get | Verb::Head) => GetContainerACL,
        (Some("acl"), Verb::Put) => SetContainerACL,
        (Some("lease"), Verb::Put) => {
            let container_leases = [
                AcquireContainerLease,
                RenewContainerLease,
                ChangeContainerLease,
                ReleaseContainerLease,
                BreakContainerLease,
            ];
            return lease_action(headers, container_leases);
        }
        (Some("undelete"), Verb::Put) => UndeleteContainer,
        (Some("blobs"), Verb::Get) => FindBlobsByTags,
        (Some("batch"), Verb::Post) => BlobBatch,
        (None | Some("list" | "metadata" | "acl" | "lease" | "undelete" | "blobs" | "batch"), _) => {
            return Err(unsupported_verb());
        }
        _ => return Err(unknown_parameter(query)),
    })
}

fn resolve_one(verb: Verb, query: &QueryString<'_>, headers: &HeaderMap) -> Result<Operation, ServiceError> {
    use Operation::*;
    let from_url = headers.contains_key(COPY_SOURCE);
    Ok(match (query.value("comp"), verb) {
        (None, Verb::Get) => GetBlob,
        (None, Verb::Head) => GetBlobProperties,
        (None, Verb::Delete) => DeleteBlob,
        (None, Verb::Put) => resolve_put(headers),
        (Some("block"), Verb::Put) if from_url => PutBlockFromURL,
        (Some("block"), Verb::Put) => PutBlock,
        (Some("blocklist"), Verb::Put) => PutBlockList,
        (Some("blocklist"), Verb::Get) => GetBlockList,
        (Some("appendblock"), Verb::Put) if from_url => AppendBlockFromURL,
        (Some("appendblock"), Verb::Put) => AppendBlock,
        (Some("seal"), Verb::Put) => SealBlob,
        (Some("page"), Verb::Put) if has(headers, PAGE_WRITE, "clear") => ClearPage,
        (Some("page"), Verb::Put) if from_url => PutPageFromURL,
        (Some("page"), Verb::Put) => PutPage,
        (Some("pagelist"), Verb::Get) => GetPageRanges,
        (Some("metadata"), Verb::Get | Verb::Head) => GetBlobMetadata,
        (Some("metadata"), Verb::Put) => SetBlobMetadata,
        (Some("properties"), Verb::Put) => SetBlobProperties,
        (Some("lease"), Verb::Put) => {
            let leases = [AcquireBlobLease, RenewBlobLease, ChangeBlobLease, ReleaseBlobLease, BreakBlobLease];
            return lease_action(headers, leases);
        }
        (Some("snapshot"), Verb::Put) => SnapshotBlob,
        (Some("undelete"), Verb::Put) => UndeleteBlob,
        (Some("copy"), Verb::Put) => AbortCopyBlob,
        (Some("incrementalcopy"), Verb::Put) => IncrementalCopyBlob,
        (Some("tier"), Verb::Put) => SetBlobTier,
        (Some("tags"), Verb::Get) => GetBlobTags,
        (Some("tags"), Verb::Put) => SetBlobTags,
        (Some("expiry"), Verb::Put) => SetBlobExpiry,
        (Some("query"), Verb::Post) => QueryBlobContents,
        (
            None
            | Some(
                "block" | "blocklist" | "appendblock" | "seal" | "page" | "pagelist" | "metadata" | "properties"
                | "lease" | "snapshot" | "undelete" | "copy" | "incrementalcopy" | "tier" | "tags" | "expiry" | "query",
            ),
            _,
        ) => return Err(unsupported_verb()),
        _ => return Err(unknown_parameter(query)),
    })
}

/// A blob is put from the body, or from another blob: at once, or as a copy that may take its time.
fn resolve_put(headers: &HeaderMap) -> Operation {
    if !headers.contains_key(COPY_SOURCE) {
        Operation::PutBlob
    } else if headers.contains_key(BLOB_TYPE) {
        Operation::PutBlobFromURL
    } else if has(headers, REQUIRES_SYNC, "true") {
        Operation::CopyBlobFromURL
    } else {
        Operation::CopyBlob
    }
}

/// Picks from acquire, renew, change, release and break, in this order.
fn lease_action(headers: &HeaderMap, operations: [Operation; 5]) -> Result<Operation, ServiceError> {
    let header = headers.get(LEASE_ACTION).ok_or_else(|| ServiceError::missing_header(LEASE_ACTION.as_str()))?;
    let action = header.to_str().unwrap_or_default();
    let place =
        ["acquire", "renew", "change", "release", "break"].iter().position(|known| action.eq_ignore_ascii_case(known));
    place.map(|place| operations[place]).ok_or_else(|| ServiceError::invalid_header(LEASE_ACTION.as_str(), action))
}

fn has(headers: &HeaderMap, name: HeaderName, value: &str) -> bool {
    headers.get(name).is_some_and(|header| header.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use tablerock_protocol::ErrorCode;

    use super::*;

    fn resolved(request: &str, headers: &[(&'static str, &'static str)]) -> Result<Operation, ErrorCode> {
        let (verb, target) = request.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = QueryString::parse(query).unwrap();
        let resource = BlobResource::parse(path, query.value("restype").is_some()).unwrap();
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers: HeaderMap = headers.collect();
        resolve_blob(Verb::parse(verb).unwrap(), &resource, &query, &headers).map_err(|error| error.code)
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
        ] {
            assert_eq!(resolved(request, &[]), Ok(expected), "{request}");
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
            assert_eq!(resolved(request, headers), Ok(expected), "{request} {headers:?}");
        }
        assert_eq!(resolved("PUT /photos/a?comp=lease", &[]), Err(ErrorCode::MissingRequiredHeader));
        let steal = [("x-ms-lease-action", "steal")];
        assert_eq!(resolved("PUT /photos/a?comp=lease", &steal), Err(ErrorCode::InvalidHeaderValue));
    }

    #[test]
    fn what_no_resource_has_is_refused() {
        for (request, code) in [
            ("GET /", ErrorCode::MissingRequiredQueryParameter),
            ("GET /photos/", ErrorCode::MissingRequiredQueryParameter),
            ("GET /?comp=other", ErrorCode::InvalidQueryParameterValue),
            ("PUT /photos?restype=table", ErrorCode::InvalidQueryParameterValue),
            ("PUT /photos/a?restype=container", ErrorCode::InvalidQueryParameterValue),
            ("GET /photos/a?comp=other", ErrorCode::InvalidQueryParameterValue),
            ("POST /photos/a", ErrorCode::UnsupportedHttpVerb),
            ("DELETE /photos/a?comp=lease", ErrorCode::UnsupportedHttpVerb),
            ("POST /photos?restype=container", ErrorCode::UnsupportedHttpVerb),
        ] {
            assert_eq!(resolved(request, &[]), Err(code), "{request}");
        }
    }
}
