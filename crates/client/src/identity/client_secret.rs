//! Tokens of an application with a secret.

use std::fmt;
use std::sync::Arc;

use super::token_endpoint::{BoxError, TokenEndpoint, token_path};
use super::{AUTHORITY_DEFAULT, required, variable};
use crate::credential::{AccessToken, TokenCredential};
use crate::transport::{BoxFuture, Transport};
use crate::{Error, Result};

/// The tokens of an application with a client secret. `Debug` does not show the secret.
///
/// ```
/// use tablerock_client::Credential;
/// use tablerock_client::identity::ClientSecretCredential;
///
/// # let secret = "secret";
/// let credential = ClientSecretCredential::new("contoso.onmicrosoft.com", "11112222-bbbb-3333-cccc-4444dddd5555", secret)?;
/// let credential = Credential::token(credential);
/// # Ok::<(), tablerock_client::Error>(())
/// ```
#[derive(Clone)]
pub struct ClientSecretCredential {
    endpoint: TokenEndpoint,
    tenant: String,
    client_id: String,
    secret: String,
}

impl ClientSecretCredential {
    /// Returns the credential of an application by its tenant, its client id and its secret.
    pub fn new(tenant: impl Into<String>, client_id: impl Into<String>, secret: impl Into<String>) -> Result<Self> {
        let (tenant, client_id, secret) = (tenant.into(), client_id.into(), secret.into());
        for (name, value) in [("tenant", &tenant), ("client id", &client_id), ("secret", &secret)] {
            if value.is_empty() {
                return Err(Error::invalid(format!("the {name} of the client secret credential is empty")));
            }
        }
        Ok(Self { endpoint: TokenEndpoint::authority(AUTHORITY_DEFAULT)?, tenant, client_id, secret })
    }

    /// Returns the credential of `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_CLIENT_SECRET`, at
    /// `AZURE_AUTHORITY_HOST` if that is set.
    #[doc(alias = "EnvironmentCredential")]
    pub fn from_env() -> Result<Self> {
        let names = ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"];
        let [tenant, client_id, secret] = names.map(required);
        let credential = Self::new(tenant?, client_id?, secret?)?;
        match variable("AZURE_AUTHORITY_HOST") {
            Some(authority) => credential.authority(&authority),
            None => Ok(credential),
        }
    }

    /// Sets the authority; `https://login.microsoftonline.com` by default.
    pub fn authority(self, url: &str) -> Result<Self> {
        Ok(Self { endpoint: TokenEndpoint::authority(url)?, ..self })
    }

    /// Sets the transport to the authority. It has to follow [`authority`](Self::authority).
    #[must_use]
    pub fn transport(self, transport: impl Transport + 'static) -> Self {
        Self { endpoint: self.endpoint.with_transport(Arc::new(transport)), ..self }
    }
}

impl TokenCredential for ClientSecretCredential {
    fn get_token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<AccessToken, BoxError>> {
        Box::pin(async move {
            let form = [
                ("grant_type", "client_credentials"),
                ("client_id", &self.client_id),
                ("client_secret", &self.secret),
                ("scope", scope),
            ];
            self.endpoint.post(&token_path(&self.tenant), &form).await
        })
    }
}

impl fmt::Debug for ClientSecretCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ClientSecretCredential");
        shown.field("endpoint", &self.endpoint).field("tenant", &self.tenant).field("client_id", &self.client_id);
        shown.finish_non_exhaustive()
    }
}
