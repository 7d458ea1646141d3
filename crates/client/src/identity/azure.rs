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

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use azure_core::credentials::{AccessToken as AzureToken, TokenRequestOptions};

    use super::*;

    #[derive(Debug)]
    struct Fixed;

    #[async_trait::async_trait]
    impl AzureTokenCredential for Fixed {
        async fn get_token(
            &self,
            scopes: &[&str],
            _: Option<TokenRequestOptions<'_>>,
        ) -> azure_core::Result<AzureToken> {
            let expires_on = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
            Ok(AzureToken::new(scopes.join(" "), expires_on.into()))
        }
    }

    #[tokio::test]
    async fn a_credential_of_azure_core_issues_tokens() {
        let credential: Arc<dyn AzureTokenCredential> = Arc::new(Fixed);
        let Credential::Token(credential) = Credential::from(credential) else { panic!("it is not a token") };
        let token = credential.get_token("https://storage.azure.com/.default").await.unwrap();
        assert_eq!(token.token, "https://storage.azure.com/.default");
        assert_eq!(token.expires_on, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(3600)));
    }
}
