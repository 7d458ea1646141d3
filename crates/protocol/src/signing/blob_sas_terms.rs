//! Making the service SAS of a container, a blob or a snapshot.

use super::sas_constraints::write_time;
use super::{
    AccountKey, BlobPermissions, BlobSas, BlobSasTarget, IpRange, ResponseHeaders, SasParameter, SasParameters,
    SasProtocol, SasTermsError, SignedBlobResource,
};
use crate::{BlobName, ContainerName, DateTime, ServiceVersion};

/// The terms of a SAS to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobSasTerms {
    pub version: ServiceVersion,
    pub container: ContainerName,
    /// Without one the SAS is for the container and all blobs in it.
    pub blob: Option<BlobName>,
    /// The snapshot of the blob that the SAS is for.
    pub snapshot: Option<String>,
    /// Left out when the stored policy gives them; so are `start` and `expiry`.
    pub permissions: Option<BlobPermissions>,
    pub start: Option<DateTime>,
    pub expiry: Option<DateTime>,
    pub identifier: Option<String>,
    pub source: Option<IpRange>,
    pub protocol: Option<SasProtocol>,
    pub response_headers: ResponseHeaders,
}

impl BlobSasTerms {
    /// Terms for a container, without a version's or a policy's peculiarities.
    pub fn new(container: ContainerName, permissions: BlobPermissions, expiry: DateTime) -> Self {
        Self {
            version: ServiceVersion::LATEST,
            container,
            blob: None,
            snapshot: None,
            permissions: Some(permissions),
            start: None,
            expiry: Some(expiry),
            identifier: None,
            source: None,
            protocol: None,
            response_headers: ResponseHeaders::default(),
        }
    }

    /// Terms for one blob.
    pub fn of_blob(container: ContainerName, blob: BlobName, permissions: BlobPermissions, expiry: DateTime) -> Self {
        Self { blob: Some(blob), ..Self::new(container, permissions, expiry) }
    }

    /// Terms for a container that a stored access policy gives.
    pub fn from_policy(container: ContainerName, identifier: impl Into<String>) -> Self {
        Self {
            permissions: None,
            expiry: None,
            identifier: Some(identifier.into()),
            ..Self::new(container, BlobPermissions::default(), DateTime::MAX)
        }
    }

    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<BlobSas<'static>, SasTermsError> {
        if self.version < self.oldest_version() {
            return Err(SasTermsError::VersionTooOld);
        }
        let target = BlobSasTarget {
            container: &self.container,
            blob: self.blob.as_ref(),
            snapshot: self.snapshot.as_deref(),
            version: None,
        };
        Ok(BlobSas::sign(self.version, self.resource(), self.parameters(), account, &target, key))
    }

    const fn resource(&self) -> SignedBlobResource {
        match (&self.blob, &self.snapshot) {
            (None, _) => SignedBlobResource::Container,
            (Some(_), None) => SignedBlobResource::Blob,
            (Some(_), Some(_)) => SignedBlobResource::Snapshot,
        }
    }

    /// The first version that signs all of these terms.
    fn oldest_version(&self) -> ServiceVersion {
        if self.resource() == SignedBlobResource::Snapshot {
            ServiceVersion::SAS_SNAPSHOT
        } else if self.source.is_some() || self.protocol.is_some() {
            ServiceVersion::ACCOUNT_SAS
        } else if self.response_headers != ResponseHeaders::default() {
            ServiceVersion::SAS_RESPONSE_HEADERS
        } else {
            ServiceVersion::SERVICE_SAS
        }
    }

    fn parameters(&self) -> SasParameters<'static> {
        use SasParameter as P;
        let headers = &self.response_headers;
        SasParameters::from_values([
            (P::Version, Some(self.version.to_string())),
            (P::Resource, Some(self.resource().as_str().to_owned())),
            (P::Permissions, self.permissions.map(|permissions| permissions.to_string())),
            (P::Start, self.start.map(write_time)),
            (P::Expiry, self.expiry.map(write_time)),
            (P::Identifier, self.identifier.clone()),
            (P::Ip, self.source.map(|source| source.to_string())),
            (P::Protocol, self.protocol.map(|protocol| protocol.as_str().to_owned())),
            (P::CacheControl, headers.cache_control.clone()),
            (P::ContentDisposition, headers.content_disposition.clone()),
            (P::ContentEncoding, headers.content_encoding.clone()),
            (P::ContentLanguage, headers.content_language.clone()),
            (P::ContentType, headers.content_type.clone()),
        ])
    }
}
