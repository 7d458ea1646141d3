//! Authentication: Shared Key, Shared Key Lite, a SAS of the service or the account, a bearer token, or none of these.

use std::fmt;

use http::{HeaderMap, HeaderName, header};
use tablerock_kv::Witness;
use tablerock_protocol::bearer;
use tablerock_protocol::signing::{
    AccountSas, Authorization, HeaderRequestParts, RequestOrigin, SIGNED_HEADERS, SasError, SasParameter,
    SasParameters, SharedKeyScheme, TableRequestParts, check_request_date, parse_authorization,
};
use tablerock_protocol::{ErrorCode, QueryString, Service, ServiceError};

use super::{Caller, Target};
use crate::accounts::Account;
use crate::http::headers::{CONTENT_MD5, Given, REQUEST_DATE};
use crate::http::respond::bad_token;
use crate::request_context::RequestContext;

/// The parts of a request that are signed, or that carry a signature.
#[derive(Clone, Copy)]
pub(crate) struct Credentials<'a> {
    pub(crate) method: &'a str,
    pub(crate) headers: &'a HeaderMap,
    /// As on the wire.
    pub(crate) path: &'a str,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) is_https: bool,
}

/// Shows no header: one of them may be a credential.
impl fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, query, is_https, .. } = self;
        let mut shown = f.debug_struct("Credentials");
        shown.field("method", method).field("path", path).field("query", query).field("is_https", is_https);
        shown.finish_non_exhaustive()
    }
}

impl Credentials<'_> {
    /// Whether there is a signature or a token.
    pub(super) fn are_given(&self) -> bool {
        let is_signed = self.query.value(SasParameter::Signature.name()).is_some();
        is_signed || self.headers.given(&header::AUTHORIZATION).is_some()
    }

    /// Returns the caller, and the row of the stored access policy that the caller's rights rest on, if they do.
    pub(super) async fn authenticate(
        &self,
        cx: &RequestContext<'_>,
        account: &Account,
        target: Target<'_>,
    ) -> Result<(Caller, Option<Witness>), ServiceError> {
        let without_policy = |caller| (caller, None);
        let verifier = Verifier { cx, account, shown: self };
        if let Some(header) = self.headers.given(&header::AUTHORIZATION) {
            let header = header.to_str().map_err(|_| ErrorCode::InvalidAuthenticationInfo)?;
            let authorization = parse_authorization(header).map_err(|_| ErrorCode::InvalidAuthenticationInfo)?;
            return verifier.verify_header(authorization).map(without_policy);
        }
        let pairs = self.query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
        match SasParameters::collect(pairs).map_err(|error| verifier.rejection(error))? {
            Some(parameters) if parameters.is_account_sas() => {
                verifier.verify_account_sas(parameters).map(without_policy)
            }
            // Few requests have one, and its future is large: it reads the stored access policy.
            Some(parameters) => Box::pin(verifier.verify_service_sas(parameters, target)).await,
            None => verifier.anonymous().map(without_policy),
        }
    }
}

/// One authentication.
pub(super) struct Verifier<'a> {
    pub(super) cx: &'a RequestContext<'a>,
    pub(super) account: &'a Account,
    pub(super) shown: &'a Credentials<'a>,
}

impl Verifier<'_> {
    fn verify_header(&self, authorization: Authorization<'_>) -> Result<Caller, ServiceError> {
        let failed = |reason: &str| ServiceError::new(ErrorCode::AuthenticationFailed).because(reason);
        let (scheme, account, signature) = match authorization {
            Authorization::Bearer { token } => return self.verify_token(token),
            Authorization::SharedKey { scheme, account, signature } => (scheme, account, signature),
        };
        let date = self.header(&REQUEST_DATE).or_else(|| self.header(&header::DATE));
        let date = date.ok_or_else(|| failed("the request has neither x-ms-date nor Date"))?;
        check_request_date(date, self.cx.now).map_err(|_| failed("the request's date is too far from the server's"))?;
        if account != self.account.name.as_str() {
            return Err(failed("the request is signed for another account"));
        }
        let is_signed = match self.cx.service {
            Service::Table => self.is_signed_by_table_rules(scheme, signature, date),
            Service::Queue | Service::Blob => self.is_signed_with_headers(scheme, signature)?,
        };
        if is_signed { Ok(Caller::Owner) } else { Err(failed("the signature does not match")) }
    }

    fn is_signed_by_table_rules(&self, scheme: SharedKeyScheme, signature: &str, date: &str) -> bool {
        let parts = TableRequestParts {
            method: self.shown.method,
            content_md5: self.header(&CONTENT_MD5).unwrap_or_default(),
            content_type: self.header(&header::CONTENT_TYPE).unwrap_or_default(),
            date,
            account: self.account.name.as_str(),
            path: self.shown.path,
            comp: self.shown.query.raw_value("comp"),
        };
        parts.is_signed_by(scheme, signature, &self.account.keys, &mut String::with_capacity(256))
    }

    fn is_signed_with_headers(&self, scheme: SharedKeyScheme, signature: &str) -> Result<bool, ServiceError> {
        let mut headers: Vec<(&str, &str)> = Vec::with_capacity(16);
        for (name, value) in self.shown.headers {
            let name = name.as_str();
            if !name.starts_with("x-ms-") && !SIGNED_HEADERS.contains(&name) {
                continue;
            }
            let value = std::str::from_utf8(value.as_bytes()).map_err(|_| ErrorCode::InvalidHeaderValue)?;
            // Of a header that comes twice it would be unclear which one is signed.
            if headers.last().is_some_and(|(before, _)| *before == name) {
                return Err(ServiceError::invalid_header(name, value));
            }
            headers.push((name, value));
        }
        let parts = HeaderRequestParts {
            method: self.shown.method,
            account: self.account.name.as_str(),
            path: self.shown.path,
            query: self.shown.query,
            headers: &headers,
            version: self.cx.version,
        };
        Ok(parts.is_signed_by(scheme, signature, &self.account.keys))
    }

    /// Accepts a token only over HTTPS: over plain HTTP anyone could read it.
    fn verify_token(&self, token: &str) -> Result<Caller, ServiceError> {
        let (account, now) = (self.account.name.as_str(), self.cx.now);
        if !self.cx.server.accept_tokens {
            return Err(bad_token().because("bearer tokens are not enabled"));
        }
        if !self.shown.is_https {
            return Err(bad_token().because("bearer tokens are accepted over HTTPS only"));
        }
        match bearer::check_claims(token, self.cx.service, account, now) {
            Ok(_) => Ok(Caller::Token),
            Err(_) => Err(bad_token().because("the token's claims are not valid here")),
        }
    }

    fn verify_account_sas(&self, parameters: SasParameters<'_>) -> Result<Caller, ServiceError> {
        let verified = || {
            let sas = AccountSas::parse(parameters)?;
            sas.verify(self.account.name.as_str(), &self.account.keys)?;
            let grant = sas.grant()?;
            grant.constraints.check(&self.origin())?;
            Ok(Caller::Account(grant))
        };
        verified().map_err(|error| self.rejection(error))
    }

    /// The caller of a request without credentials. Blobs may be public.
    fn anonymous(&self) -> Result<Caller, ServiceError> {
        match self.cx.service {
            Service::Table | Service::Queue => Err(self.cx.no_credentials()),
            Service::Blob => Ok(Caller::Anonymous),
        }
    }

    pub(super) fn origin(&self) -> RequestOrigin {
        RequestOrigin { now: self.cx.now, source: self.cx.peer.address, is_https: self.shown.is_https }
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.shown.headers.given_text(name)
    }

    /// The error for a SAS that is not valid. Queues and blobs name the reason in the response, tables do not.
    pub(super) fn rejection(&self, error: SasError) -> ServiceError {
        let rejection = ServiceError::from(error);
        match (self.cx.service, rejection.code) {
            (Service::Queue | Service::Blob, ErrorCode::AuthenticationFailed) => {
                rejection.detail("AuthenticationErrorDetail", error.to_string())
            }
            _ => rejection,
        }
    }
}
