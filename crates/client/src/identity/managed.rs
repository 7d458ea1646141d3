//! Tokens of a managed identity, which a service on the host issues.

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};

use super::token_endpoint::{BoxError, TokenEndpoint};
use super::variable;
use crate::credential::{AccessToken, TokenCredential};
use crate::transport::{BoxFuture, Transport};
use crate::{Error, Result};

/// The instance metadata service, which only the machine itself can reach.
const METADATA_SERVICE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";
const METADATA_VERSION: &str = "2018-02-01";
const APP_SERVICE_VERSION: &str = "2019-08-01";

/// The tokens of a managed identity: of a virtual machine, by the instance metadata service, or of an app service.
#[doc(alias = "IMDS")]
#[doc(alias = "VirtualMachineManagedIdentityCredential")]
#[derive(Clone)]
pub struct ManagedIdentityCredential {
    endpoint: TokenEndpoint,
    version: &'static str,
    /// The header that proves that a request comes from the host.
    header: (&'static str, HeaderValue),
    client_id: Option<String>,
}

impl ManagedIdentityCredential {
    /// Returns the credential of the virtual machine's own identity.
    pub fn new() -> Result<Self> {
        Self::with_endpoint(METADATA_SERVICE)
    }

    /// Returns the credential of the instance metadata service at another address.
    pub fn with_endpoint(url: &str) -> Result<Self> {
        let header = ("metadata", HeaderValue::from_static("true"));
        Ok(Self { endpoint: TokenEndpoint::local(url)?, version: METADATA_VERSION, header, client_id: None })
    }

    /// Returns the credential of an app service, by the address and the secret of its environment.
    pub fn for_app_service(endpoint: &str, secret: &str) -> Result<Self> {
        let mut secret = HeaderValue::from_str(secret)
            .map_err(|_| Error::invalid("IDENTITY_HEADER has characters that a header cannot hold"))?;
        secret.set_sensitive(true);
        let header = ("x-identity-header", secret);
        Ok(Self { endpoint: TokenEndpoint::local(endpoint)?, version: APP_SERVICE_VERSION, header, client_id: None })
    }

    /// Returns the credential of the environment: that of an app service if `IDENTITY_ENDPOINT` and `IDENTITY_HEADER`
    /// are set, and else that of a virtual machine. `AZURE_CLIENT_ID` selects a user-assigned identity.
    pub fn from_env() -> Result<Self> {
        let credential = match (variable("IDENTITY_ENDPOINT"), variable("IDENTITY_HEADER")) {
            (Some(endpoint), Some(secret)) => Self::for_app_service(&endpoint, &secret)?,
            _ => Self::new()?,
        };
        Ok(Self { client_id: variable("AZURE_CLIENT_ID"), ..credential })
    }

    /// Selects a user-assigned identity by its client id.
    #[must_use]
    pub fn client_id(self, id: impl Into<String>) -> Self {
        Self { client_id: Some(id.into()), ..self }
    }

    /// Sets the transport to the host's service.
    #[must_use]
    pub fn transport(self, transport: impl Transport + 'static) -> Self {
        Self { endpoint: self.endpoint.with_transport(Arc::new(transport)), ..self }
    }
}

impl TokenCredential for ManagedIdentityCredential {
    fn get_token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<AccessToken, BoxError>> {
        Box::pin(async move {
            let resource = scope.strip_suffix("/.default").unwrap_or(scope);
            let mut query = vec![("api-version", self.version), ("resource", resource)];
            query.extend(self.client_id.as_deref().map(|id| ("client_id", id)));
            let mut headers = HeaderMap::new();
            headers.insert(self.header.0, self.header.1.clone());
            self.endpoint.get(&query, headers).await
        })
    }
}

impl fmt::Debug for ManagedIdentityCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ManagedIdentityCredential");
        shown.field("endpoint", &self.endpoint).field("client_id", &self.client_id).finish_non_exhaustive()
    }
}
