//! Public access and stored access policies of a container.

use http::header::CONTENT_TYPE;
use http::{HeaderName, Method};
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::StoredAccessPolicies;

use super::ContainerClient;
use crate::{Error, Result};

const PUBLIC_ACCESS: HeaderName = HeaderName::from_static("x-ms-blob-public-access");

/// The data that requests without a credential can read.
#[doc(alias = "PublicAccessType")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublicAccess {
    /// Nothing.
    #[default]
    None,
    /// Blobs, by their names.
    Blob,
    /// Blobs, and the list of blobs.
    Container,
}

/// A container's public access and its stored access policies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainerAccess {
    /// The public access.
    pub public_access: PublicAccess,
    /// The stored access policies.
    pub policies: StoredAccessPolicies,
}

impl ContainerClient {
    /// Returns the public access and the stored access policies of the container. It needs the account's key.
    #[doc(alias = "get_container_access_policy")]
    pub async fn get_access_policies(&self) -> Result<ContainerAccess> {
        let response = self.pipeline.send(&self.call("GetContainerAcl", Method::GET).query("comp", "acl")).await?;
        let public_access = match response.header(PUBLIC_ACCESS.as_str()) {
            Some("container") => PublicAccess::Container,
            Some("blob") => PublicAccess::Blob,
            _ => PublicAccess::None,
        };
        let policies = StoredAccessPolicies::parse(&response.body, BlobPermissions::LETTERS);
        Ok(ContainerAccess { public_access, policies: policies.map_err(|error| Error::invalid_response(&error))? })
    }

    /// Sets the public access and all stored access policies of the container. It needs the account's key.
    #[doc(alias = "set_container_access_policy")]
    pub async fn set_access_policies(&self, access: &ContainerAccess) -> Result<()> {
        let call = self.call("SetContainerAcl", Method::PUT).query("comp", "acl");
        let call = call.static_header(CONTENT_TYPE, "application/xml").body(access.policies.render());
        let call = match access.public_access {
            PublicAccess::None => call,
            PublicAccess::Blob => call.static_header(PUBLIC_ACCESS, "blob"),
            PublicAccess::Container => call.static_header(PUBLIC_ACCESS, "container"),
        };
        self.pipeline.send(&call).await.map(drop)
    }
}
