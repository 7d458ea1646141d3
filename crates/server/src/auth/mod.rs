//! Who is asking: Shared Key, Shared Key Lite, a SAS of the service or the account, a bearer token, or nobody.
//!
//! What all services have in common is here; `service_sas.rs` has the SAS of each, `caller.rs` what follows from them.

mod caller;
mod service_sas;

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};
use tablerock_protocol::bearer;
use tablerock_protocol::signing::{
    AccountSas, Authorization, HeaderRequestParts, RequestOrigin, SIGNED_HEADERS, SasError, SasParameters,
    SharedKeyScheme, TableRequestParts, check_request_date, parse_authorization,
};
use tablerock_protocol::{DateTime, ErrorCode, QueryString, Service, ServiceError, ServiceVersion};

pub(crate) use caller::Caller;

use crate::accounts::Account;
use crate::headers::{CONTENT_MD5, REQUEST_DATE};
use crate::respond::bad_token;

/// The parts of a request that credentials are about.
pub(crate) struct Credentials<'a> {
    pub(crate) service: Service,
    pub(crate) account: &'a Account,
    pub(crate) method: &'a str,
    pub(crate) headers: &'a HeaderMap,
    /// As on the wire.
    pub(crate) path: &'a str,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) version: ServiceVersion,
    pub(crate) now: DateTime,
    pub(crate) source: IpAddr,
    pub(crate) is_https: bool,
    /// Whether tokens are looked at without checking who signed them, for development.
    pub(crate) accept_tokens: bool,
}

/// What a request shows of its sender, as far as every service reads it alike.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box would cost every SAS an allocation"
)]
enum Shown<'a> {
    /// Credentials that are good.
    Good(Caller),
    /// A SAS of the service, of which nothing is verified yet.
    ServiceSas(SasParameters<'a>),
    Nothing,
}

impl Credentials<'_> {
    fn examine(&self) -> Result<Shown<'_>, ServiceError> {
        if let Some(header) = self.headers.get(header::AUTHORIZATION) {
            let header = header.to_str().map_err(|_| ErrorCode::InvalidAuthenticationInfo)?;
            let authorization = parse_authorization(header).map_err(|_| ErrorCode::InvalidAuthenticationInfo)?;
            return self.verify_header(authorization).map(Shown::Good);
        }
        let pairs = self.query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
        match SasParameters::collect(pairs).map_err(|error| self.refused(error))? {
            Some(parameters) if parameters.is_account_sas() => self.verify_account_sas(parameters).map(Shown::Good),
            Some(parameters) => Ok(Shown::ServiceSas(parameters)),
            None => Ok(Shown::Nothing),
        }
    }

    fn verify_header(&self, authorization: Authorization<'_>) -> Result<Caller, ServiceError> {
        let (scheme, account, signature) = match authorization {
            Authorization::Bearer { token } => return self.verify_token(token),
            Authorization::SharedKey { scheme, account, signature } => (scheme, account, signature),
        };
        let date =
            self.header(REQUEST_DATE).or_else(|| self.header(header::DATE)).ok_or(ErrorCode::AuthenticationFailed)?;
        check_request_date(date, self.now).map_err(|_| ErrorCode::AuthenticationFailed)?;
        let is_ours = account == self.account.name.as_str();
        let is_signed = match self.service {
            Service::Table => is_ours && self.is_signed_by_table_rules(scheme, signature, date),
            Service::Queue | Service::Blob => is_ours && self.is_signed_with_headers(scheme, signature)?,
        };
        if is_signed { Ok(Caller::Owner) } else { Err(ErrorCode::AuthenticationFailed.into()) }
    }

    fn is_signed_by_table_rules(&self, scheme: SharedKeyScheme, signature: &str, date: &str) -> bool {
        let parts = TableRequestParts {
            method: self.method,
            content_md5: self.header(CONTENT_MD5).unwrap_or_default(),
            content_type: self.header(header::CONTENT_TYPE).unwrap_or_default(),
            date,
            account: self.account.name.as_str(),
            path: self.path,
            comp: self.query.raw_value("comp"),
        };
        parts.is_signed_by(scheme, signature, &self.account.keys, &mut String::with_capacity(256))
    }

    fn is_signed_with_headers(&self, scheme: SharedKeyScheme, signature: &str) -> Result<bool, ServiceError> {
        let mut headers: Vec<(&str, &str)> = Vec::with_capacity(16);
        for (name, value) in self.headers {
            let name = name.as_str();
            if !name.starts_with("x-ms-") && !SIGNED_HEADERS.contains(&name) {
                continue;
            }
            let value = std::str::from_utf8(value.as_bytes()).map_err(|_| ErrorCode::InvalidHeaderValue)?;
            // Which of two would be signed, nobody could tell.
            if headers.last().is_some_and(|(before, _)| *before == name) {
                return Err(ServiceError::invalid_header(name, value));
            }
            headers.push((name, value));
        }
        let parts = HeaderRequestParts {
            method: self.method,
            account: self.account.name.as_str(),
            path: self.path,
            query: self.query,
            headers: &headers,
            version: self.version,
        };
        Ok(parts.is_signed_by(scheme, signature, &self.account.keys))
    }

    fn verify_token(&self, token: &str) -> Result<Caller, ServiceError> {
        // Over plain HTTP a token is as good as published, so it is refused there whatever it says.
        let is_looked_at = self.accept_tokens && self.is_https;
        let account = self.account.name.as_str();
        if is_looked_at && bearer::check_claims(token, self.service, account, self.now).is_ok() {
            Ok(Caller::Token)
        } else {
            Err(bad_token())
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
        verified().map_err(|error| self.refused(error))
    }

    fn origin(&self) -> RequestOrigin {
        RequestOrigin { now: self.now, source: self.source, is_https: self.is_https }
    }

    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn refused(&self, error: SasError) -> ServiceError {
        match self.service {
            Service::Table => refused(error),
            Service::Queue | Service::Blob => caller::detailed(error),
        }
    }
}

fn refused(error: SasError) -> ServiceError {
    error.into()
}
