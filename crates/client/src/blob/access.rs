//! Public access and stored access policies of a container.

use http::header::CONTENT_TYPE;
use http::{HeaderName, Method};

use super::ContainerClient;
use super::conditions::ConditionalCall;
use crate::Request;
use crate::access_policy;
use crate::pipeline::{Call, ServiceResponse};
use crate::sas::{BlobPermissions, StoredAccessPolicy};

const PUBLIC_ACCESS: HeaderName = HeaderName::from_static("x-ms-blob-public-access");

/// The data that requests without a credential can read.
#[doc(alias = "PublicAccessType")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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
    pub policies: Vec<StoredAccessPolicy<BlobPermissions>>,
}

impl ContainerClient {
    /// Returns the public access and the stored access policies of the container. It needs the account's key.
    #[doc(alias = "get_container_access_policy")]
    pub fn get_access_policies(&self) -> Request<ContainerAccess, ConditionalCall<ContainerAccess>> {
        let call = self.call("GetContainerAcl", Method::GET).query("comp", "acl");
        Request::conditional(&self.pipeline, Ok(call), |response| {
            let policies = access_policy::parse(&response.body)?;
            Ok(ContainerAccess { public_access: PublicAccess::read(&response), policies })
        })
    }

    /// Sets the public access and all stored access policies of the container. It needs the account's key.
    #[doc(alias = "set_container_access_policy")]
    pub fn set_access_policies(&self, access: &ContainerAccess) -> Request<(), ConditionalCall<()>> {
        let call = self.call("SetContainerAcl", Method::PUT).query("comp", "acl");
        let call = call.static_header(CONTENT_TYPE, "application/xml").body(access_policy::render(&access.policies));
        Request::conditional(&self.pipeline, Ok(access.public_access.add_to(call)), |_| Ok(()))
    }
}

impl PublicAccess {
    pub(super) fn read(response: &ServiceResponse) -> Self {
        match response.header(PUBLIC_ACCESS.as_str()) {
            Some("container") => Self::Container,
            Some("blob") => Self::Blob,
            _ => Self::None,
        }
    }

    pub(super) fn add_to(self, call: Call) -> Call {
        match self {
            Self::None => call,
            Self::Blob => call.static_header(PUBLIC_ACCESS, "blob"),
            Self::Container => call.static_header(PUBLIC_ACCESS, "container"),
        }
    }
}
