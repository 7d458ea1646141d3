//! Tokens of an application with a secret.

use std::fmt;

use super::application::{Application, check_not_empty};
use super::required;
use super::token_endpoint::BoxError;
use crate::Result;
use crate::credential::{AccessToken, TokenCredential};
use crate::transport::{BoxFuture, Transport};

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
    application: Application,
    secret: String,
}

impl ClientSecretCredential {
    /// Returns the credential of an application by its tenant, its client id and its secret.
    pub fn new(tenant: impl Into<String>, client_id: impl Into<String>, secret: impl Into<String>) -> Result<Self> {
        Self::of(Application::new(tenant, client_id)?, secret.into())
    }

    /// Returns the credential of `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_CLIENT_SECRET`, at
    /// `AZURE_AUTHORITY_HOST` if that is set.
    #[doc(alias = "EnvironmentCredential")]
    pub fn from_env() -> Result<Self> {
        Self::of(Application::from_env()?, required("AZURE_CLIENT_SECRET")?)
    }

    fn of(application: Application, secret: String) -> Result<Self> {
        check_not_empty("secret", &secret)?;
        Ok(Self { application, secret })
    }

    /// Sets the authority; `https://login.microsoftonline.com` by default.
    pub fn authority(self, url: &str) -> Result<Self> {
        Ok(Self { application: self.application.at(url)?, ..self })
    }

    /// Sets the transport to the authority. It has to follow [`authority`](Self::authority).
    #[must_use]
    pub fn transport(self, transport: impl Transport + 'static) -> Self {
        Self { application: self.application.with_transport(transport), ..self }
    }
}

impl TokenCredential for ClientSecretCredential {
    fn get_token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<AccessToken, BoxError>> {
        Box::pin(async move { self.application.token(&[("client_secret", &self.secret)], scope).await })
    }
}

impl fmt::Debug for ClientSecretCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSecretCredential").field("application", &self.application).finish_non_exhaustive()
    }
}
