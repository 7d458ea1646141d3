//! Credentials of the crate `azure_core`, such as those of `azure_identity`.

use std::fmt;
use std::sync::Arc;

use azure_core::credentials::TokenCredential as AzureTokenCredential;

use super::token_endpoint::BoxError;
use crate::credential::{AccessToken, Credential, TokenCredential};
use crate::transport::BoxFuture;

/// Requests tokens from a credential of `azure_core`.
struct AzureCredential(Arc<dyn AzureTokenCredential>);

impl From<Arc<dyn AzureTokenCredential>> for Credential {
    fn from(credential: Arc<dyn AzureTokenCredential>) -> Self {
        Self::token(AzureCredential(credential))
    }
}

impl TokenCredential for AzureCredential {
    fn get_token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<AccessToken, BoxError>> {
        Box::pin(async move {
            let token = self.0.get_token(&[scope], None).await?;
            let expires_on = Some(token.expires_on.into());
            Ok(AccessToken { token: token.token.secret().to_owned(), expires_on })
        })
    }
}

/// Its own Debug may show a secret.
impl fmt::Debug for AzureCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AzureCredential(..)")
    }
}
