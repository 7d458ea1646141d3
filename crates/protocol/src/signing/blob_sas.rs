//! The service SAS of a container or a blob: how it is read and verified.

use super::sas_constraints::SasTerms;
use super::{AccountKey, BlobPermissions, SasConstraints, SasError, SasParameter, SasParameters};
use crate::xml::StoredAccessPolicies;
use crate::{BlobName, ContainerName, ServiceVersion};

/// `sr`: what kind of resource a SAS is for. Directories, which only accounts with a hierarchical namespace have,
/// are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedBlobResource {
    /// A container and all blobs in it.
    Container,
    Blob,
    Snapshot,
    Version,
}

impl SignedBlobResource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Container => "c",
            Self::Blob => "b",
            Self::Snapshot => "bs",
            Self::Version => "bv",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Container, Self::Blob, Self::Snapshot, Self::Version].into_iter().find(|known| known.as_str() == text)
    }
}

/// What a request addresses. A token names none of it: it is good for what its address says, or for nothing.
#[derive(Debug, Clone, Copy)]
pub struct BlobSasTarget<'a> {
    pub container: &'a ContainerName,
    pub blob: Option<&'a BlobName>,
    /// The query's `snapshot`.
    pub snapshot: Option<&'a str>,
    /// The query's `versionid`.
    pub version: Option<&'a str>,
}

/// The SAS of a container or a blob as its client presents it. Nothing in it counts before [`BlobSas::verify`] has
/// passed.
#[derive(Debug, Clone)]
pub struct BlobSas<'a> {
    version: ServiceVersion,
    resource: SignedBlobResource,
    parameters: SasParameters<'a>,
}

/// What a verified SAS allows, with its stored access policy taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobGrant {
    pub resource: SignedBlobResource,
    pub permissions: BlobPermissions,
    pub constraints: SasConstraints,
    pub response_headers: ResponseHeaders,
}

/// What a reader gets to see in the place of the blob's own headers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseHeaders {
    pub cache_control: Option<String>,
    pub content_disposition: Option<String>,
    pub content_encoding: Option<String>,
    pub content_language: Option<String>,
    pub content_type: Option<String>,
}

impl<'a> BlobSas<'a> {
    /// Takes the parameters of a request that is not signed by an account SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        if parameters.is_account_sas() {
            return Err(SasError::Ambiguous);
        }
        if parameters.is_user_delegation_sas() {
            return Err(SasError::UserDelegation);
        }
        let version = parameters.version(ServiceVersion::SERVICE_SAS)?;
        let resource = SignedBlobResource::parse(parameters.required(SasParameter::Resource)?);
        let resource = resource.ok_or(SasError::Malformed(SasParameter::Resource))?;
        let is_newer = matches!(resource, SignedBlobResource::Snapshot | SignedBlobResource::Version);
        if is_newer && version < ServiceVersion::SAS_SNAPSHOT {
            return Err(SasError::VersionTooOld);
        }
        parameters.required(SasParameter::Signature)?;
        Ok(Self { version, resource, parameters })
    }

    /// `sv`, which is also the version of the request when it names no other.
    pub const fn version(&self) -> ServiceVersion {
        self.version
    }

    /// The stored access policy of the container that the SAS refers to.
    pub fn identifier(&self) -> Option<&str> {
        self.parameters.given(SasParameter::Identifier)
    }

    /// The text that the signature covers.
    pub fn string_to_sign(&self, account: &str, target: &BlobSasTarget<'_>) -> String {
        use SasParameter as P;
        let mut signed = String::with_capacity(256);
        self.parameters.append_lines(&[P::Permissions, P::Start, P::Expiry], &mut signed);
        self.append_canonicalized_resource(account, target, &mut signed);
        signed.push('\n');
        self.parameters.append_lines(&[P::Identifier], &mut signed);
        if self.version >= ServiceVersion::ACCOUNT_SAS {
            self.parameters.append_lines(&[P::Ip, P::Protocol], &mut signed);
        }
        signed.push_str(self.parameters.text(P::Version));
        if self.version < ServiceVersion::SAS_RESPONSE_HEADERS {
            return signed;
        }
        signed.push('\n');
        if self.version >= ServiceVersion::SAS_SNAPSHOT {
            let time = match self.resource {
                SignedBlobResource::Snapshot => target.snapshot,
                SignedBlobResource::Version => target.version,
                _ => None,
            };
            for piece in [self.resource.as_str(), "\n", time.unwrap_or_default(), "\n"] {
                signed.push_str(piece);
            }
        }
        if self.version >= ServiceVersion::SAS_ENCRYPTION_SCOPE {
            self.parameters.append_lines(&[P::EncryptionScope], &mut signed);
        }
        let overrides = [P::CacheControl, P::ContentDisposition, P::ContentEncoding, P::ContentLanguage];
        self.parameters.append_lines(&overrides, &mut signed);
        signed.push_str(self.parameters.text(P::ContentType));
        signed
    }

    fn append_canonicalized_resource(&self, account: &str, target: &BlobSasTarget<'_>, out: &mut String) {
        let prefix = if self.version >= ServiceVersion::SAS_SERVICE_PREFIX { "/blob/" } else { "/" };
        for piece in [prefix, account, "/", target.container.as_str()] {
            out.push_str(piece);
        }
        if let Some(blob) = target.blob.filter(|_| self.resource != SignedBlobResource::Container) {
            out.push('/');
            out.push_str(blob.as_str());
        }
    }

    /// Checks the signature against the account's keys, for what is addressed.
    pub fn verify(&self, account: &str, target: &BlobSasTarget<'_>, keys: &[AccountKey]) -> Result<(), SasError> {
        let fits = match self.resource {
            SignedBlobResource::Container => true,
            SignedBlobResource::Blob => target.blob.is_some(),
            SignedBlobResource::Snapshot => target.blob.is_some() && target.snapshot.is_some(),
            SignedBlobResource::Version => target.blob.is_some() && target.version.is_some(),
        };
        // A blob's token must not pass for one of a container whose name goes on like the blob's address.
        if !fits {
            return Err(SasError::ContainerMismatch);
        }
        self.parameters.check_signature(&self.string_to_sign(account, target), keys)
    }

    /// What the SAS allows. `policies` are those of its container; without an [`identifier`](Self::identifier)
    /// they play no part and may be empty.
    pub fn grant(&self, policies: &StoredAccessPolicies) -> Result<BlobGrant, SasError> {
        let terms = SasTerms::merge(&self.parameters, policies)?;
        let permissions = BlobPermissions::parse(terms.permissions);
        Ok(BlobGrant {
            resource: self.resource,
            permissions: permissions.ok_or(SasError::Malformed(SasParameter::Permissions))?,
            constraints: SasConstraints::read(&self.parameters, terms.start, terms.expiry)?,
            response_headers: self.response_headers(),
        })
    }

    /// Only what the signature covers may change what others see.
    fn response_headers(&self) -> ResponseHeaders {
        if self.version < ServiceVersion::SAS_RESPONSE_HEADERS {
            return ResponseHeaders::default();
        }
        let given = |parameter| self.parameters.given(parameter).map(str::to_owned);
        ResponseHeaders {
            cache_control: given(SasParameter::CacheControl),
            content_disposition: given(SasParameter::ContentDisposition),
            content_encoding: given(SasParameter::ContentEncoding),
            content_language: given(SasParameter::ContentLanguage),
            content_type: given(SasParameter::ContentType),
        }
    }

    /// Signs parameters that have everything but the signature.
    pub(super) fn sign(
        version: ServiceVersion,
        resource: SignedBlobResource,
        parameters: SasParameters<'a>,
        account: &str,
        target: &BlobSasTarget<'_>,
        key: &AccountKey,
    ) -> Self {
        let mut sas = Self { version, resource, parameters };
        let signature = key.sign(&sas.string_to_sign(account, target));
        sas.parameters.set(SasParameter::Signature, signature);
        sas
    }

    /// The token, to be added to a URL's query.
    pub fn to_query(&self) -> String {
        self.parameters.to_query()
    }
}

impl BlobGrant {
    /// Any one of the alternatives is enough.
    pub fn check_permissions(&self, alternatives: &[BlobPermissions]) -> Result<(), SasError> {
        let allowed = alternatives.iter().any(|needed| self.permissions.contains(*needed));
        if allowed { Ok(()) } else { Err(SasError::PermissionMismatch) }
    }
}
