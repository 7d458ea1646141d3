//! Who can read a container: everybody, or whoever a stored access policy lets in.

use http::header::CONTENT_TYPE;
use http::{HeaderName, Method};
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::StoredAccessPolicies;

use super::ContainerClient;
use crate::{Error, Result};

const PUBLIC_ACCESS: HeaderName = HeaderName::from_static("x-ms-blob-public-access");

/// What somebody without a credential can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublicAccess {
    /// Nothing.
    #[default]
    None,
    /// Blobs whose names are known.
    Blob,
    /// Blobs, and which there are.
    Container,
}

/// A container's public access and its stored access policies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainerAccess {
    /// What everybody can read.
    pub public: PublicAccess,
    /// The policies that shared access signatures can refer to.
    pub policies: StoredAccessPolicies,
}

impl ContainerClient {
    /// Who can read the container. Takes the account's key.
    pub async fn access(&self) -> Result<ContainerAccess> {
        let answer = self.pipeline.send(&self.call("GetContainerAcl", Method::GET).query("comp", "acl")).await?;
        let public = match answer.header(PUBLIC_ACCESS.as_str()) {
            Some("container") => PublicAccess::Container,
            Some("blob") => PublicAccess::Blob,
            _ => PublicAccess::None,
        };
        let policies = StoredAccessPolicies::parse(&answer.body, BlobPermissions::LETTERS);
        Ok(ContainerAccess { public, policies: policies.map_err(|error| Error::unreadable(&error))? })
    }

    /// Sets who can read the container, all of it at once. Takes the account's key.
    pub async fn set_access(&self, access: &ContainerAccess) -> Result<()> {
        let call = self.call("SetContainerAcl", Method::PUT).query("comp", "acl");
        let call = call.own_header(CONTENT_TYPE, "application/xml").body(access.policies.render());
        let call = match access.public {
            PublicAccess::None => call,
            PublicAccess::Blob => call.own_header(PUBLIC_ACCESS, "blob"),
            PublicAccess::Container => call.own_header(PUBLIC_ACCESS, "container"),
        };
        self.pipeline.send(&call).await.map(drop)
    }
}
