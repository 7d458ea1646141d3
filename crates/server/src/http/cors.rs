//! CORS: preflight requests, and the headers of responses to actual ones.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tablerock_protocol::cors::{Preflight, answer_preflight, answer_request};
use tablerock_protocol::{Service, ServiceError};
use tablerock_services::AccountService;

use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

/// Responds to a preflight by the account's rules.
pub(crate) async fn preflight(
    settings: &AccountService,
    service: Service,
    account: &str,
    headers: &HeaderMap,
) -> Result<Reply, ServiceError> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let request = Preflight {
        origin: text(header::ORIGIN),
        method: text(header::ACCESS_CONTROL_REQUEST_METHOD),
        headers: text(header::ACCESS_CONTROL_REQUEST_HEADERS),
    };
    let properties = settings.service_properties(account, service).await.map_err(|error| error.into_service_error())?;
    let allowed = answer_preflight(&properties.cors, &request)?;
    let mut reply = Reply::empty(200)
        .with(ResponseHeader::AllowOrigin, allowed.allow_origin.to_owned())
        .with(ResponseHeader::AllowMethods, allowed.allow_methods.to_owned())
        .with(ResponseHeader::MaxAge, allowed.max_age_seconds.to_string());
    if let Some(headers) = allowed.allow_headers {
        reply = reply.with(ResponseHeader::AllowHeaders, headers.to_owned());
    }
    if allowed.allow_credentials {
        reply = reply.with(ResponseHeader::AllowCredentials, "true");
    }
    Ok(reply)
}

/// Adds the headers that the origin may see. A request that matches no rule runs all the same.
pub(crate) async fn decorate(
    settings: &AccountService,
    service: Service,
    account: &str,
    origin: &HeaderValue,
    method: &Method,
    headers: &mut HeaderMap,
) {
    let Ok(origin) = origin.to_str() else { return };
    if method == Method::OPTIONS {
        return;
    }
    // The request itself has its response. If the rules cannot be read, the headers are left out.
    let Ok(properties) = settings.service_properties(account, service).await else { return };
    let reply = answer_request(&properties.cors, Some(origin), method.as_str());
    let mut add = |name: HeaderName, value: &str| {
        // A text that cannot be a header value is left out.
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.append(name, value);
        }
    };
    if reply.vary_origin {
        add(header::VARY, "Origin");
    }
    if let Some(allowance) = reply.allowance {
        add(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowance.allow_origin);
        if allowance.allow_credentials {
            add(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
        }
        let names: Vec<String> = headers.keys().map(|name| name.as_str().to_owned()).collect();
        if let Some(exposed) = allowance.expose_headers(names.iter().map(String::as_str))
            && let Ok(value) = HeaderValue::from_str(&exposed)
        {
            headers.append(header::ACCESS_CONTROL_EXPOSE_HEADERS, value);
        }
    }
}
