//! An application of Microsoft Entra ID, which gets tokens for a proof: a secret, or a token of its platform.

use std::sync::Arc;

use super::token_endpoint::{BoxError, TokenEndpoint};
use super::{required, variable};
use crate::credential::AccessToken;
use crate::transport::Transport;
use crate::{Error, Result};

/// The authority of the public cloud.
const AUTHORITY_DEFAULT: &str = "https://login.microsoftonline.com";

/// A tenant's application, and the authority that issues its tokens.
#[derive(Debug, Clone)]
pub(super) struct Application {
    endpoint: TokenEndpoint,
    tenant: String,
    client_id: String,
}

impl Application {
    pub(super) fn new(tenant: impl Into<String>, client_id: impl Into<String>) -> Result<Self> {
        let (tenant, client_id) = (tenant.into(), client_id.into());
        check_not_empty("tenant", &tenant)?;
        check_not_empty("client id", &client_id)?;
        Ok(Self { endpoint: TokenEndpoint::authority(AUTHORITY_DEFAULT)?, tenant, client_id })
    }

    /// Returns the application of `AZURE_TENANT_ID` and `AZURE_CLIENT_ID`, at `AZURE_AUTHORITY_HOST` if that is set.
    pub(super) fn from_env() -> Result<Self> {
        let application = Self::new(required("AZURE_TENANT_ID")?, required("AZURE_CLIENT_ID")?)?;
        match variable("AZURE_AUTHORITY_HOST") {
            Some(authority) => application.at(&authority),
            None => Ok(application),
        }
    }

    /// Sets the authority.
    pub(super) fn at(self, url: &str) -> Result<Self> {
        Ok(Self { endpoint: TokenEndpoint::authority(url)?, ..self })
    }

    /// Sets the transport to the authority.
    pub(super) fn with_transport(self, transport: impl Transport + 'static) -> Self {
        Self { endpoint: self.endpoint.with_transport(Arc::new(transport)), ..self }
    }

    /// Requests a token with the fields of a proof.
    pub(super) async fn token(&self, proof: &[(&str, &str)], scope: &str) -> Result<AccessToken, BoxError> {
        let own = [("grant_type", "client_credentials"), ("client_id", self.client_id.as_str())];
        let path = format!("/{}/oauth2/v2.0/token", crate::pipeline::encode(&self.tenant));
        self.endpoint.post(&path, &[&own, proof, &[("scope", scope)]].concat()).await
    }
}

pub(super) fn check_not_empty(name: &str, value: &str) -> Result<()> {
    if value.is_empty() {
        return Err(Error::invalid(format!("the {name} of the credential is empty")));
    }
    Ok(())
}
