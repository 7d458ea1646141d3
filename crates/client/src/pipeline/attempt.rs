//! One attempt of a call: its connection, address, date, signature and response.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request, StatusCode};

use super::retry::Failure;
use super::{
    CLIENT_REQUEST_ID, Call, HEADERS_EXPECTED, Pipeline, ServiceResponse, TOKEN_RENEWAL_TIMEOUT, VERSION_HEADER, sign,
    span, text,
};
use crate::credential::Credential;
use crate::environment::now;
use crate::error::{Error, Result};
use crate::policy::NextAttempt;
use crate::request::{Exchange, ResponseHead};

/// One attempt of a call.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) call: &'a Call,
    /// Headers of the call's options and of policies.
    pub(super) extra: &'a HeaderMap,
    pub(super) id: &'a HeaderValue,
    /// The number of attempts, including this one.
    pub(super) number: u32,
    pub(super) timeout: Duration,
}

/// How far an attempt came before its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    WaitsForConnection,
    WaitsForToken,
    Sent,
}

impl Attempt<'_> {
    pub(super) async fn send(&self, exchange: &mut Exchange, span: &tracing::Span) -> Result<ServiceResponse, Failure> {
        let Self { pipeline, call, id, number, timeout, .. } = *self;
        let mut stage = Stage::WaitsForConnection;
        let sending = async {
            let _permit = pipeline.permits.acquire().await.expect("the semaphore is never closed");
            stage = Stage::WaitsForToken;
            let (request, token) = self.request().await?;
            stage = Stage::Sent;
            let next = NextAttempt::new(&pipeline.options.attempt_policies, pipeline.transport.as_ref());
            Ok((next.send(request).await, token))
        };
        let (response, token) = match tokio::time::timeout(timeout, sending).await {
            Ok(sent) => sent.map_err(Failure::not_sent)?,
            Err(_) => {
                return Err(match stage {
                    Stage::WaitsForConnection => Failure::no_connection(timeout, number),
                    Stage::WaitsForToken => Failure::not_sent(Error::token(format!("none arrived within {timeout:?}"))),
                    Stage::Sent => Failure::timeout(timeout, number),
                });
            }
        };
        let response = match response {
            Ok(response) => response,
            Err(source) if source.is_response_too_large() => return Err(Failure::response_too_large(call.is_write())),
            Err(source) => return Err(Failure::transport(source, number)),
        };
        if exchange.keeps_head {
            exchange.head = Some(ResponseHead { status: response.status(), headers: response.headers().clone() });
        }
        let error = match (call.check)(&response) {
            Ok(part_etags) => {
                span::record_response(span, response.status().as_u16(), &response);
                return Ok(ServiceResponse::new(response, part_etags, call.is_write()));
            }
            Err(error) => error,
        };
        span::record_response(span, error.status, &response);
        let is_unauthorized = error.status == StatusCode::UNAUTHORIZED.as_u16();
        let failure = Failure::response(error, text(id), number);
        Err(match token.filter(|_| is_unauthorized) {
            Some(token) => {
                pipeline.tokens.forget(&token);
                failure.with_new_token()
            }
            None => failure,
        })
    }

    /// Builds the request, with its own date and signature, and returns the access token in it.
    async fn request(&self) -> Result<(Request<Bytes>, Option<Arc<str>>)> {
        let Self { pipeline, call, extra, id, timeout, .. } = *self;
        let target = call.target(pipeline.endpoint.path(), &pipeline.credential);
        let mut request = Request::new(call.body.clone());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = pipeline.endpoint.uri(&target)?;
        let headers = request.headers_mut();
        headers.reserve(HEADERS_EXPECTED);
        for (name, value) in call.headers.iter().chain(extra) {
            headers.insert(name.clone(), value.clone());
        }
        if let Some(propagate) = &pipeline.options.trace_propagation {
            propagate.inject(headers);
        }
        headers.insert(USER_AGENT, pipeline.user_agent.clone());
        headers.insert(CLIENT_REQUEST_ID, id.clone());
        let version = call.headers.get(VERSION_HEADER).unwrap_or(&pipeline.version_header);
        headers.insert(VERSION_HEADER, version.clone());
        let token = authorize(pipeline, &mut request, timeout).await?;
        // hyper omits Content-Length if the body is empty, and the services reject a PUT without it.
        if request.body().is_empty() && matches!(*request.method(), Method::PUT | Method::POST) {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok((request, token))
    }
}

async fn authorize(pipeline: &Pipeline, request: &mut Request<Bytes>, timeout: Duration) -> Result<Option<Arc<str>>> {
    match &pipeline.credential {
        Credential::SharedKey(shared) => sign::sign(pipeline.service, pipeline.version, shared, now(), request)?,
        Credential::Token(credential) => {
            // Renewing a token that is still valid leaves half of the time for the request.
            let renewal_timeout = TOKEN_RENEWAL_TIMEOUT.min(timeout / 2);
            let scope = pipeline.options.token_scope();
            let token = pipeline.tokens.token(credential.as_ref(), scope, now(), renewal_timeout).await?;
            sign::set_bearer(&token, now(), request)?;
            return Ok(Some(token));
        }
        Credential::Sas(_) | Credential::Anonymous => {}
    }
    Ok(None)
}
