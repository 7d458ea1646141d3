//! The service SAS of a container or a blob.

use super::terms::service_sas_terms;
use super::{BlobPermissions, Sas, SasConstraints, SasError, SasParameter, SasParameters, SasTermsError};
use crate::signing::AccountKey;
use crate::xml::StoredAccessPolicies;
use crate::{BlobName, ContainerName, DateTime, ServiceVersion};

/// The SAS of a container or a blob.
pub type BlobSas<'a> = Sas<'a, SignedBlobResource>;

/// `sr`: the kind of resource that a SAS is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedBlobResource {
    /// A container and all blobs in it.
    Container,
    /// One blob.
    Blob,
    /// One snapshot of a blob.
    Snapshot,
    /// One version of a blob.
    Version,
    /// All blobs whose names begin with so many segments as `sdd` says.
    Directory,
}

impl SignedBlobResource {
    /// Returns the value of `sr`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Container => "c",
            Self::Blob => "b",
            Self::Snapshot => "bs",
            Self::Version => "bv",
            Self::Directory => "d",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let known = [Self::Container, Self::Blob, Self::Snapshot, Self::Version, Self::Directory];
        known.into_iter().find(|known| known.as_str() == text)
    }
}

/// The resource that a request addresses. A token names no resource: it is valid for the address it was signed for.
#[derive(Debug, Clone, Copy)]
pub struct BlobSasTarget<'a> {
    /// The container.
    pub container: &'a ContainerName,
    /// The blob, unless the request addresses the container.
    pub blob: Option<&'a BlobName>,
    /// The query's `snapshot`.
    pub snapshot: Option<&'a str>,
    /// The query's `versionid`.
    pub version: Option<&'a str>,
}

/// The rights of a verified SAS, merged with its stored access policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobGrant {
    /// The version that the SAS was signed for.
    pub version: ServiceVersion,
    /// The kind of resource that the SAS is for.
    pub resource: SignedBlobResource,
    /// The granted permissions.
    pub permissions: BlobPermissions,
    /// The limits on time, protocol and address.
    pub constraints: SasConstraints,
    /// The headers that replace the blob's own in responses.
    pub response_headers: ResponseHeaders,
}

/// Response headers that replace the blob's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseHeaders {
    /// `Cache-Control` (`rscc`).
    pub cache_control: Option<String>,
    /// `Content-Disposition` (`rscd`).
    pub content_disposition: Option<String>,
    /// `Content-Encoding` (`rsce`).
    pub content_encoding: Option<String>,
    /// `Content-Language` (`rscl`).
    pub content_language: Option<String>,
    /// `Content-Type` (`rsct`).
    pub content_type: Option<String>,
}

impl<'a> BlobSas<'a> {
    /// Reads the parameters of a request that has no account SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        parameters.check_no_account_sas()?;
        parameters.check_no_user_delegation()?;
        let version = parameters.version(ServiceVersion::SERVICE_SAS)?;
        let kind = SignedBlobResource::parse(parameters.required(SasParameter::Resource)?);
        let kind = kind.ok_or(SasError::Malformed(SasParameter::Resource))?;
        let is_newer = matches!(kind, SignedBlobResource::Snapshot | SignedBlobResource::Version);
        let is_directory = kind == SignedBlobResource::Directory;
        if is_newer && version < ServiceVersion::SAS_SNAPSHOT || is_directory && version < ServiceVersion::SAS_DIRECTORY
        {
            return Err(SasError::VersionTooOld);
        }
        if is_directory && parameters.required(SasParameter::DirectoryDepth)?.parse::<u8>().is_err() {
            return Err(SasError::Malformed(SasParameter::DirectoryDepth));
        }
        parameters.required(SasParameter::Signature)?;
        Ok(Self { version, kind, parameters })
    }

    /// Returns the text that the signature covers.
    pub fn string_to_sign(&self, account: &str, target: &BlobSasTarget<'_>) -> String {
        use SasParameter as P;
        let container = target.container.as_str();
        let mut signed = match target.blob.filter(|_| self.kind != SignedBlobResource::Container) {
            Some(blob) => {
                let name = self.directory_of(blob).unwrap_or(blob.as_str());
                self.service_lines("blob", account, &["/", container, "/", name])
            }
            None => self.service_lines("blob", account, &["/", container]),
        };
        if self.version < ServiceVersion::SAS_RESPONSE_HEADERS {
            return signed;
        }
        signed.push('\n');
        if self.version >= ServiceVersion::SAS_SNAPSHOT {
            let time = match self.kind {
                SignedBlobResource::Snapshot => target.snapshot,
                SignedBlobResource::Version => target.version,
                _ => None,
            };
            for text in [self.kind.as_str(), "\n", time.unwrap_or_default(), "\n"] {
                signed.push_str(text);
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

    /// Returns the directory that the SAS is for, if the blob is in it or has its name: as many segments as `sdd` says.
    fn directory_of<'b>(&self, blob: &'b BlobName) -> Option<&'b str> {
        let depth: usize = match self.kind {
            SignedBlobResource::Directory => self.parameters.text(SasParameter::DirectoryDepth).parse().ok()?,
            _ => return None,
        };
        let name = blob.as_str();
        let last = depth.checked_sub(1)?;
        match name.match_indices('/').nth(last) {
            Some((end, _)) => Some(&name[..end]),
            None => (name.matches('/').count() == last).then_some(name),
        }
    }

    /// Checks the signature against the account's keys, for the addressed resource.
    pub fn verify(&self, account: &str, target: &BlobSasTarget<'_>, keys: &[AccountKey]) -> Result<(), SasError> {
        let fits = match self.kind {
            SignedBlobResource::Container => true,
            SignedBlobResource::Blob => target.blob.is_some(),
            SignedBlobResource::Directory => target.blob.is_some_and(|blob| self.directory_of(blob).is_some()),
            SignedBlobResource::Snapshot => target.blob.is_some() && target.snapshot.is_some(),
            SignedBlobResource::Version => target.blob.is_some() && target.version.is_some(),
        };
        // The token of a blob must not pass for that of a container whose name continues like the blob's address.
        if !fits {
            return Err(SasError::ContainerMismatch);
        }
        self.parameters.check_signature(&self.string_to_sign(account, target), keys)
    }

    /// Returns the rights of the SAS. `policies` are those of its container, or empty if the SAS has no
    /// [`identifier`](Sas::identifier).
    pub fn grant(&self, policies: &StoredAccessPolicies) -> Result<BlobGrant, SasError> {
        let (permissions, constraints) = self.service_grant(policies, BlobPermissions::parse)?;
        let version = self.version;
        Ok(BlobGrant {
            version,
            resource: self.kind,
            permissions,
            constraints,
            response_headers: self.response_headers()?,
        })
    }

    /// Returns the headers that the signature covers; earlier versions sign none.
    fn response_headers(&self) -> Result<ResponseHeaders, SasError> {
        if self.version < ServiceVersion::SAS_RESPONSE_HEADERS {
            return Ok(ResponseHeaders::default());
        }
        let given = |parameter| match self.parameters.given(parameter) {
            Some(text) if text.contains(char::is_control) => Err(SasError::ControlCharacter(parameter)),
            text => Ok(text.map(str::to_owned)),
        };
        Ok(ResponseHeaders {
            cache_control: given(SasParameter::CacheControl)?,
            content_disposition: given(SasParameter::ContentDisposition)?,
            content_encoding: given(SasParameter::ContentEncoding)?,
            content_language: given(SasParameter::ContentLanguage)?,
            content_type: given(SasParameter::ContentType)?,
        })
    }
}

impl BlobGrant {
    /// Checks that the SAS grants one of the alternatives.
    pub fn check_permissions(&self, alternatives: &[BlobPermissions]) -> Result<(), SasError> {
        let allowed = alternatives.iter().any(|needed| self.permissions.contains(*needed));
        if allowed { Ok(()) } else { Err(SasError::PermissionMismatch) }
    }
}

service_sas_terms! {
    /// The terms of a [`BlobSas`] to be signed.
    BlobSasTerms {
        /// The name of the container.
        container: ContainerName, BlobPermissions
    }
    /// The name of the blob; `None` for the container and all blobs in it.
    blob: Option<BlobName>,
    /// The snapshot of the blob, by its date.
    snapshot: Option<String>,
    /// The headers that replace the blob's own in responses.
    response_headers: ResponseHeaders,
}

impl BlobSasTerms {
    /// Returns terms for one blob.
    pub fn of_blob(container: ContainerName, blob: BlobName, permissions: BlobPermissions, expiry: DateTime) -> Self {
        Self { blob: Some(blob), ..Self::new(container, permissions, expiry) }
    }

    /// Signs the terms.
    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<BlobSas<'static>, SasTermsError> {
        use SasParameter as P;
        let kind = match (&self.blob, &self.snapshot) {
            (None, _) => SignedBlobResource::Container,
            (Some(_), None) => SignedBlobResource::Blob,
            (Some(_), Some(_)) => SignedBlobResource::Snapshot,
        };
        let headers = &self.response_headers;
        self.check_version(if kind == SignedBlobResource::Snapshot {
            ServiceVersion::SAS_SNAPSHOT
        } else if *headers != ResponseHeaders::default() {
            ServiceVersion::SAS_RESPONSE_HEADERS
        } else {
            ServiceVersion::SERVICE_SAS
        })?;
        let parameters = self.parameters([
            (P::Resource, Some(kind.as_str().to_owned())),
            (P::CacheControl, headers.cache_control.clone()),
            (P::ContentDisposition, headers.content_disposition.clone()),
            (P::ContentEncoding, headers.content_encoding.clone()),
            (P::ContentLanguage, headers.content_language.clone()),
            (P::ContentType, headers.content_type.clone()),
        ]);
        let sas = BlobSas { version: self.version, kind, parameters };
        let snapshot = self.snapshot.as_deref();
        let target = BlobSasTarget { container: &self.container, blob: self.blob.as_ref(), snapshot, version: None };
        let string_to_sign = sas.string_to_sign(account, &target);
        Ok(sas.signed(&string_to_sign, key))
    }
}
