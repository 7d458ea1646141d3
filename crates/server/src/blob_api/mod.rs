//! The Blob service's operations over HTTP: decode, call the service, encode.

mod account_information;

use http::{HeaderMap, HeaderName};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{
    BlobResource, ContainerName, ErrorCode, QueryString, Service, ServiceError, ServiceVersion, limits,
};

use crate::answer::Answer;
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::progress::Progress;
use crate::respond::Envelope;
use crate::road::Road;
use crate::service_api::ServiceCall;
use crate::upload::Upload;

/// A request that has been admitted. Its body is still on its way.
pub(crate) struct Call<'a> {
    pub(crate) road: &'a Road,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a BlobResource,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) caller: &'a Caller,
    pub(crate) envelope: &'a Envelope,
    pub(crate) body: &'a mut Upload,
    /// To be told when long work that takes nothing in gets on.
    pub(crate) progress: &'a Progress,
}

impl<'a> Call<'a> {
    fn account(&self) -> &'a str {
        self.endpoint.account.name.as_str()
    }

    fn header(&self, name: HeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Runs an operation. The match is the list of all there are.
pub(crate) async fn dispatch(call: Call<'_>, _seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    if matches!(call.caller, Caller::Anonymous) {
        check_public_access(&call).await?;
    }
    let Call { road, endpoint, envelope, headers, .. } = call;
    let service = ServiceCall { service: Service::Blob, road, endpoint, envelope, headers };
    match call.operation {
        Operation::GetBlobServiceProperties => service.properties().await,
        Operation::SetBlobServiceProperties => {
            service.set_properties(&call.body.whole(limits::XML_BODY_BYTES_MAX).await?).await
        }
        Operation::GetBlobServiceStats => service.stats(),
        Operation::BlobPreflightRequest => service.preflight().await,
        Operation::GetAccountInformation => Ok(account_information::account_information()),
        _ => Err(ErrorCode::NotImplemented.into()),
    }
}

/// Whether the container is open to a stranger, for the operation that the stranger asks for.
async fn check_public_access(call: &Call<'_>) -> Result<(), ServiceError> {
    if call.envelope.version >= ServiceVersion::STORAGE_TOKEN {
        Err(ErrorCode::NoAuthenticationInformation.into())
    } else {
        Err(ErrorCode::ResourceNotFound.into())
    }
}

/// The stored access policies of a container, for a SAS that rests on one of them. A container that is gone has none.
pub(crate) async fn stored_policies(
    _road: &Road,
    _account: &str,
    _container: &ContainerName,
) -> Result<StoredAccessPolicies, ServiceError> {
    Ok(StoredAccessPolicies::default())
}
