//! Tokens for a workload whose platform issues it a token of its own, in a file.

use std::path::PathBuf;

use super::application::Application;
use super::required;
use super::token_endpoint::{BoxError, TOKEN_BYTES_MAX};
use crate::Result;
use crate::credential::{AccessToken, TokenCredential};
use crate::transport::{BoxFuture, Transport};

/// The kind of proof that a platform's token is.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The tokens of a federated workload, such as a pod of Kubernetes. The platform renews the file, so it is read for
/// each token.
#[derive(Debug, Clone)]
pub struct WorkloadIdentityCredential {
    application: Application,
    token_file: PathBuf,
}

impl WorkloadIdentityCredential {
    /// Returns the credential of an application by its tenant, its client id and the file with the platform's token.
    pub fn new(
        tenant: impl Into<String>,
        client_id: impl Into<String>,
        token_file: impl Into<PathBuf>,
    ) -> Result<Self> {
        Ok(Self { application: Application::new(tenant, client_id)?, token_file: token_file.into() })
    }

    /// Returns the credential of `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_FEDERATED_TOKEN_FILE`, at
    /// `AZURE_AUTHORITY_HOST` if that is set. The webhook of workload identity sets them.
    pub fn from_env() -> Result<Self> {
        let (application, token_file) = (Application::from_env()?, required("AZURE_FEDERATED_TOKEN_FILE")?);
        Ok(Self { application, token_file: token_file.into() })
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
            let proof = [("client_assertion_type", ASSERTION_TYPE), ("client_assertion", &assertion)];
            self.application.token(&proof, scope).await
        })
    }
}
