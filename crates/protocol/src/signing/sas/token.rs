//! The mechanism that all kinds of SAS share: the token, and the rules common to the SAS of one service.

use super::constraints::MergedFields;
use super::{SasConstraints, SasError, SasParameter, SasParameters};
use crate::ServiceVersion;
use crate::signing::AccountKey;
use crate::xml::StoredAccessPolicies;

/// A shared access signature as a client presents it; `K` is the kind of resource that it is for. Its fields are
/// untrusted until `verify` succeeds.
#[derive(Debug, Clone)]
pub struct Sas<'a, K> {
    pub(super) version: ServiceVersion,
    pub(super) kind: K,
    pub(super) parameters: SasParameters<'a>,
}

impl<K> Sas<'_, K> {
    /// Returns `sv`, which is also the version of the request when the request names no other.
    pub const fn version(&self) -> ServiceVersion {
        self.version
    }

    /// Returns the id of the stored access policy that the SAS refers to.
    pub fn identifier(&self) -> Option<&str> {
        self.parameters.given(SasParameter::Identifier)
    }

    /// Returns the token, for the query of a URL.
    pub fn to_query(&self) -> String {
        self.parameters.to_query()
    }

    /// Adds the signature of `string_to_sign`.
    pub(super) fn signed(mut self, string_to_sign: &str, key: &AccountKey) -> Self {
        self.parameters.set(SasParameter::Signature, key.sign(string_to_sign));
        self
    }

    /// The lines with which the string-to-sign of each service begins: up to the version, without its line end.
    pub(super) fn service_lines(&self, service: &str, account: &str, resource: &[&str]) -> String {
        use SasParameter as P;
        let mut signed = String::with_capacity(256);
        self.parameters.append_lines(&[P::Permissions, P::Start, P::Expiry], &mut signed);
        if self.version >= ServiceVersion::SAS_SERVICE_PREFIX {
            signed.push('/');
            signed.push_str(service);
        }
        for text in [&["/", account], resource, &["\n"]].into_iter().flatten() {
            signed.push_str(text);
        }
        self.parameters.append_lines(&[P::Identifier], &mut signed);
        if self.version >= ServiceVersion::ACCOUNT_SAS {
            self.parameters.append_lines(&[P::Ip, P::Protocol], &mut signed);
        }
        signed.push_str(self.parameters.text(P::Version));
        signed
    }

    /// Reads the permissions and constraints of a service SAS, each from the token or from its stored access policy.
    pub(super) fn service_grant<P>(
        &self,
        policies: &StoredAccessPolicies,
        parse: impl FnOnce(&str) -> Option<P>,
    ) -> Result<(P, SasConstraints), SasError> {
        let fields = MergedFields::read(&self.parameters, policies)?;
        let permissions = parse(fields.permissions).ok_or(SasError::Malformed(SasParameter::Permissions))?;
        Ok((permissions, SasConstraints::read(&self.parameters, fields.start, fields.expiry)?))
    }
}
