//! Who is asking: Shared Key, Shared Key Lite, a table's SAS, an account SAS or a bearer token.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};
use tablerock_protocol::bearer;
use tablerock_protocol::signing::{
    AccountGrant, AccountSas, Authorization, RequestOrigin, SasError, SasParameters, SignedServices, TableGrant,
    TableRequestParts, TableSas, check_request_date, parse_authorization,
};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{DateTime, ErrorCode, QueryString, ServiceError, ServiceVersion};
use tablerock_services::TableService;

use crate::accounts::Account;
use crate::headers::{CONTENT_MD5, REQUEST_DATE};
use crate::operation::Operation;
use crate::respond::bad_token;

/// A caller whose credentials have been verified.
#[derive(Debug)]
pub(crate) enum Caller {
    /// Holds an account key: may do everything.
    Owner,
    /// Holds an Entra token: everything but access policies.
    Token,
    Table(TableGrant),
    Account(AccountGrant),
}

/// The parts of a request that credentials are about.
pub(crate) struct Credentials<'a> {
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

impl Credentials<'_> {
    pub(crate) async fn verify(&self, tables: &TableService) -> Result<Caller, ServiceError> {
        if let Some(header) = self.headers.get(header::AUTHORIZATION) {
            let header = header.to_str().map_err(|_| ErrorCode::InvalidAuthenticationInfo)?;
            let authorization = parse_authorization(header).map_err(|_| ErrorCode::InvalidAuthenticationInfo)?;
            return self.verify_header(authorization);
        }
        let pairs = self.query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
        match SasParameters::collect(pairs).map_err(refused)? {
            Some(parameters) if parameters.is_account_sas() => self.verify_account_sas(parameters),
            Some(parameters) => {
                let sas = self.signed_table_sas(parameters)?;
                let policies = match sas.identifier() {
                    Some(_) => self.stored_policies(tables).await?,
                    None => StoredAccessPolicies::default(),
                };
                let grant = sas.grant(&policies).map_err(refused)?;
                grant.constraints.check(&self.origin()).map_err(refused)?;
                Ok(Caller::Table(grant))
            }
            None if self.version >= ServiceVersion::BEARER_TOKEN => Err(ErrorCode::NoAuthenticationInformation.into()),
            None => Err(ErrorCode::AuthenticationFailed.into()),
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
        let parts = TableRequestParts {
            method: self.method,
            content_md5: self.header(CONTENT_MD5).unwrap_or_default(),
            content_type: self.header(header::CONTENT_TYPE).unwrap_or_default(),
            date,
            account: self.account.name.as_str(),
            path: self.path,
            comp: self.query.raw_value("comp"),
        };
        let is_ours = account == self.account.name.as_str();
        if is_ours && parts.is_signed_by(scheme, signature, &self.account.keys, &mut String::with_capacity(256)) {
            Ok(Caller::Owner)
        } else {
            Err(ErrorCode::AuthenticationFailed.into())
        }
    }

    fn verify_token(&self, token: &str) -> Result<Caller, ServiceError> {
        // Over plain HTTP a token is as good as published, so it is refused there whatever it says.
        let is_looked_at = self.accept_tokens && self.is_https;
        if is_looked_at && bearer::check_claims(token, self.account.name.as_str(), self.now).is_ok() {
            Ok(Caller::Token)
        } else {
            Err(bad_token())
        }
    }

    fn verify_account_sas(&self, parameters: SasParameters<'_>) -> Result<Caller, ServiceError> {
        let sas = AccountSas::parse(parameters).map_err(refused)?;
        sas.verify(self.account.name.as_str(), &self.account.keys).map_err(refused)?;
        let grant = sas.grant().map_err(refused)?;
        grant.constraints.check(&self.origin()).map_err(refused)?;
        Ok(Caller::Account(grant))
    }

    fn signed_table_sas<'p>(&self, parameters: SasParameters<'p>) -> Result<TableSas<'p>, ServiceError> {
        let sas = TableSas::parse(parameters).map_err(refused)?;
        sas.verify(self.account.name.as_str(), &self.account.keys).map_err(refused)?;
        Ok(sas)
    }

    /// The policies of the table that a SAS is for. A table that is gone has none, so whatever rested on them is
    /// refused.
    async fn stored_policies(&self, tables: &TableService) -> Result<StoredAccessPolicies, ServiceError> {
        let table = self.query.value("tn").unwrap_or_default();
        let policies = tables.table_acl(self.account.name.as_str(), table).await;
        match policies.map_err(|error| error.into_service_error()) {
            Err(error) if error.code == ErrorCode::TableNotFound => Ok(StoredAccessPolicies::default()),
            policies => policies,
        }
    }

    fn origin(&self) -> RequestOrigin {
        RequestOrigin { now: self.now, source: self.source, is_https: self.is_https }
    }

    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl Caller {
    /// Whether the caller may run an operation on a table, as far as that does not depend on keys.
    pub(crate) fn check(&self, operation: Operation, table: Option<&str>) -> Result<(), ServiceError> {
        match self {
            Self::Owner => Ok(()),
            Self::Token => match operation {
                Operation::GetTableAcl | Operation::SetTableAcl => Err(ErrorCode::ResourceNotFound.into()),
                _ => Ok(()),
            },
            Self::Account(grant) => {
                let (level, alternatives) = operation.account_permissions().ok_or(ErrorCode::AuthorizationFailure)?;
                grant.check(SignedServices::TABLE, level, &alternatives).map_err(refused)
            }
            Self::Table(grant) => {
                let needed = operation.table_permissions().ok_or(ErrorCode::AuthorizationFailure)?;
                if let Some(table) = table {
                    grant.check_table(table).map_err(refused)?;
                }
                grant.check_permissions(needed).map_err(refused)
            }
        }
    }

    /// Whether the caller may write the entity with these keys.
    pub(crate) fn check_write(&self, partition_key: &str, row_key: &str) -> Result<(), ServiceError> {
        match self {
            Self::Table(grant) => grant.check_keys(partition_key, row_key).map_err(refused),
            _ => Ok(()),
        }
    }

    /// What is outside a caller's range does not exist for a reader.
    pub(crate) fn can_read(&self, partition_key: &str, row_key: &str) -> bool {
        match self {
            Self::Table(grant) => grant.keys.contains(partition_key, row_key),
            _ => true,
        }
    }
}

fn refused(error: SasError) -> ServiceError {
    error.into()
}
