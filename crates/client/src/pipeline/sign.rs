//! Signatures of requests. The Table service signs a few lines; queues and blobs also sign headers and the query.

use std::time::SystemTime;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Request};
use tablerock_protocol::signing::{HeaderRequestParts, SharedKeyScheme, TableRequestParts};
use tablerock_protocol::{QueryString, Service, ServiceVersion};

use super::header;
use crate::Result;
use crate::credential::SharedKey;

const DATE: HeaderName = HeaderName::from_static("x-ms-date");

/// Dates a request and signs it with an account's key.
pub(super) fn sign(
    service: Service,
    version: ServiceVersion,
    shared: &SharedKey,
    now: SystemTime,
    request: &mut Request<Bytes>,
) -> Result<()> {
    let date = httpdate::fmt_http_date(now);
    request.headers_mut().insert(DATE, header(&date)?);
    let authorization = match service {
        Service::Table => table_authorization(shared, &date, request),
        Service::Queue | Service::Blob => header_authorization(version, shared, request)?,
    };
    request.headers_mut().insert(AUTHORIZATION, secret(&authorization)?);
    Ok(())
}

/// Dates a request and adds an access token.
pub(super) fn set_bearer(token: &str, now: SystemTime, request: &mut Request<Bytes>) -> Result<()> {
    let headers = request.headers_mut();
    headers.insert(DATE, header(&httpdate::fmt_http_date(now))?);
    headers.insert(AUTHORIZATION, secret(&format!("Bearer {token}"))?);
    Ok(())
}

/// Builds a header value that is not shown when it is printed.
fn secret(value: &str) -> Result<http::HeaderValue> {
    let mut value = http::HeaderValue::from_str(value)
        .map_err(|_| crate::Error::invalid("the credential has characters that a header cannot hold"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn table_authorization(shared: &SharedKey, date: &str, request: &Request<Bytes>) -> String {
    // The values of comp are words, which need no decoding. A projection is long, and would be decoded for each call.
    let query = request.uri().query().unwrap_or_default();
    let parts = TableRequestParts {
        method: request.method().as_str(),
        content_md5: "",
        content_type: text(request.headers(), CONTENT_TYPE.as_str()),
        date,
        account: &shared.account,
        path: request.uri().path(),
        comp: query.split('&').find_map(|parameter| parameter.strip_prefix("comp=")),
    };
    parts.authorization(SharedKeyScheme::SharedKey, &shared.key)
}

fn header_authorization(version: ServiceVersion, shared: &SharedKey, request: &Request<Bytes>) -> Result<String> {
    let query = QueryString::parse(request.uri().query().unwrap_or_default())?;
    let length = request.body().len().to_string();
    let mut headers: Vec<(&str, &str)> =
        request.headers().keys().map(|name| (name.as_str(), text(request.headers(), name.as_str()))).collect();
    headers.push(("content-length", &length));
    let parts = HeaderRequestParts {
        method: request.method().as_str(),
        account: &shared.account,
        path: request.uri().path(),
        query: &query,
        headers: &headers,
        version,
    };
    Ok(parts.authorization(SharedKeyScheme::SharedKey, &shared.key))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
