//! Tokens for a workload whose platform issues it a token of its own, in a file.

use std::path::PathBuf;
use std::sync::Arc;

use super::token_endpoint::{BoxError, TOKEN_BYTES_MAX, TokenEndpoint, token_path};
use super::{AUTHORITY_DEFAULT, required, variable};
use crate::Result;
use crate::credential::{AccessToken, TokenCredential};
use crate::transport::{BoxFuture, Transport};

/// The tokens of a federated workload, such as a pod of Kubernetes. The platform renews the file, so it is read for
/// each token.
#[derive(Debug, Clone)]
pub struct WorkloadIdentityCredential {
    endpoint: TokenEndpoint,
    tenant: String,
    client_id: String,
    token_file: PathBuf,
}

impl WorkloadIdentityCredential {
    /// Returns the credential of an application by its tenant, its client id and the file with the platform's token.
    pub fn new(
        tenant: impl Into<String>,
        client_id: impl Into<String>,
        token_file: impl Into<PathBuf>,
    ) -> Result<Self> {
        let endpoint = TokenEndpoint::authority(AUTHORITY_DEFAULT)?;
        Ok(Self { endpoint, tenant: tenant.into(), client_id: client_id.into(), token_file: token_file.into() })
    }

    /// Returns the credential of `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_FEDERATED_TOKEN_FILE`, at
    /// `AZURE_AUTHORITY_HOST` if that is set. The webhook of workload identity sets them.
    pub fn from_env() -> Result<Self> {
        let names = ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"];
        let [tenant, client_id, token_file] = names.map(required);
        let credential = Self::new(tenant?, client_id?, token_file?)?;
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

    /// Reads the platform's token.
    async fn assertion(&self) -> Result<String, BoxError> {
        let path = self.token_file.clone();
        let read = tokio::task::spawn_blocking(move || {
            let length = std::fs::metadata(&path)?.len();
            if length > TOKEN_BYTES_MAX as u64 {
                return Err(std::io::Error::other(format!("it has {length} bytes, more than {TOKEN_BYTES_MAX}")));
            }
            std::fs::read_to_string(&path)
        });
        let token = read.await?.map_err(|error| format!("cannot read {}: {error}", self.token_file.display()))?;
        Ok(token.trim().to_owned())
    }
}

impl TokenCredential for WorkloadIdentityCredential {
    fn get_token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<AccessToken, BoxError>> {
        Box::pin(async move {
            let assertion = self.assertion().await?;
            let form = [
                ("grant_type", "client_credentials"),
                ("client_id", &self.client_id),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", &assertion),
                ("scope", scope),
            ];
            self.endpoint.post(&token_path(&self.tenant), &form).await
        })
    }
}
