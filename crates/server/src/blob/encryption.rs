//! Customer-provided keys and encryption scopes.

use http::HeaderName;
use tablerock_protocol::blob::{CUSTOMER_KEY_ALGORITHM, CustomerKey, KeyDigest};
use tablerock_protocol::{ErrorCode, ServiceError};

use super::BlobCall;
use super::names::{
    DEFAULT_ENCRYPTION_SCOPE, DENY_ENCRYPTION_SCOPE_OVERRIDE, ENCRYPTION_ALGORITHM, ENCRYPTION_KEY,
    ENCRYPTION_KEY_SHA256, ENCRYPTION_SCOPE, SOURCE_ENCRYPTION_ALGORITHM, SOURCE_ENCRYPTION_KEY,
    SOURCE_ENCRYPTION_KEY_SHA256,
};
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

/// The scope that every account has.
const ACCOUNT_SCOPE: &str = "$account-encryption-key";

impl BlobCall<'_> {
    /// The key that the request provides for the content of its blob.
    pub(super) fn customer_key(&self) -> Result<Option<CustomerKey>, ServiceError> {
        self.key_of([ENCRYPTION_KEY, ENCRYPTION_KEY_SHA256, ENCRYPTION_ALGORITHM])
    }

    /// The digest of that key.
    pub(super) fn key_digest(&self) -> Result<Option<KeyDigest>, ServiceError> {
        Ok(self.customer_key()?.map(|key| key.digest()))
    }

    /// The key that the request provides for the source of a copy.
    pub(super) fn source_key(&self) -> Result<Option<CustomerKey>, ServiceError> {
        self.key_of([SOURCE_ENCRYPTION_KEY, SOURCE_ENCRYPTION_KEY_SHA256, SOURCE_ENCRYPTION_ALGORITHM])
    }

    /// Reads the three headers of a key. None goes without the others, and no error shows the key.
    fn key_of(&self, [key, digest, algorithm]: [HeaderName; 3]) -> Result<Option<CustomerKey>, ServiceError> {
        // Nearly no request has one, and to look at all names once is cheaper than to look for three of them.
        let family = key.as_str().trim_end_matches("key");
        if !self.headers.keys().any(|name| name.as_str().starts_with(family)) {
            return Ok(None);
        }
        let text = |name: &HeaderName| self.header_value(name).filter(|value| !value.is_empty());
        let headers = [&key, &digest, &algorithm].map(text);
        if headers.iter().all(Option::is_none) {
            return Ok(None);
        }
        let required = |index: usize, name: &HeaderName| {
            let value = headers[index].ok_or_else(|| ServiceError::missing_header(name.as_str()))?;
            value.to_str().map_err(|_| ServiceError::invalid_header(name.as_str(), ""))
        };
        let (given, hash, name) = (required(0, &key)?, required(1, &digest)?, required(2, &algorithm)?);
        if !name.eq_ignore_ascii_case(CUSTOMER_KEY_ALGORITHM) {
            return Err(ServiceError::invalid_header(algorithm.as_str(), name));
        }
        let given = CustomerKey::parse(given).ok_or_else(|| ServiceError::invalid_header(key.as_str(), ""))?;
        if KeyDigest::parse(hash) != Some(given.digest()) {
            return Err(ServiceError::invalid_header(digest.as_str(), hash));
        }
        Ok(Some(given))
    }

    /// Rejects a write to an encryption scope: there is none but the account's.
    pub(super) fn check_scope(&self) -> Result<(), ServiceError> {
        match self.header(&ENCRYPTION_SCOPE).filter(|scope| !scope.is_empty()) {
            None | Some(ACCOUNT_SCOPE) => Ok(()),
            Some(scope) => Err(no_such_scope(&ENCRYPTION_SCOPE, scope)),
        }
    }

    /// The same for the scope of a new container, which says whether its blobs may have others.
    pub(super) fn check_default_scope(&self) -> Result<(), ServiceError> {
        let scope = self.header(&DEFAULT_ENCRYPTION_SCOPE).filter(|scope| !scope.is_empty());
        let denies = self.header(&DENY_ENCRYPTION_SCOPE_OVERRIDE).filter(|denies| !denies.is_empty());
        match (scope, denies) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(ServiceError::missing_header(DEFAULT_ENCRYPTION_SCOPE.as_str())),
            (Some(_), None) => Err(ServiceError::missing_header(DENY_ENCRYPTION_SCOPE_OVERRIDE.as_str())),
            (Some(ACCOUNT_SCOPE), Some(denies)) if denies.eq_ignore_ascii_case("false") => Ok(()),
            (Some(ACCOUNT_SCOPE), Some(denies)) => {
                Err(ServiceError::invalid_header(DENY_ENCRYPTION_SCOPE_OVERRIDE.as_str(), denies))
            }
            (Some(scope), Some(_)) => Err(no_such_scope(&DEFAULT_ENCRYPTION_SCOPE, scope)),
        }
    }
}

fn no_such_scope(header: &HeaderName, scope: &str) -> ServiceError {
    ServiceError::new(ErrorCode::EncryptionScopeNotFound)
        .detail("HeaderName", header.as_str())
        .detail("HeaderValue", scope)
}

/// Adds the digest of the customer's key that content is encrypted with.
pub(super) fn with_key(reply: Reply, digest: Option<KeyDigest>) -> Reply {
    match digest {
        Some(digest) => reply.with(ResponseHeader::EncryptionKeySha256, digest.to_base64()),
        None => reply,
    }
}
