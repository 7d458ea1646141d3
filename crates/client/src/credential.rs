//! Credentials: an account's key, a shared access signature or access tokens.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tablerock_protocol::signing::AccountKey;

use crate::transport::BoxFuture;
use crate::{Error, Result};

/// The client renews a token this long before it expires.
const TOKEN_RENEWAL_AHEAD: Duration = Duration::from_secs(5 * 60);
/// The scope of tokens for storage.
pub(crate) const TOKEN_SCOPE: &str = "https://storage.azure.com/.default";

/// How requests are authenticated.
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// The account's name and one of its two keys. It permits everything and can sign shared access signatures.
    SharedKey(SharedKey),
    /// A shared access signature.
    Sas(Sas),
    /// Access tokens of Microsoft Entra ID.
    Token(Arc<dyn TokenCredential>),
    /// No credential: reads public blobs only.
    Anonymous,
}

/// An account's name and one of its keys.
#[doc(alias = "TableSharedKeyCredential")]
#[doc(alias = "StorageSharedKeyCredential")]
#[doc(alias = "AzureNamedKeyCredential")]
#[derive(Debug, Clone)]
pub struct SharedKey {
    pub(crate) account: String,
    pub(crate) key: AccountKey,
}

/// A shared access signature: the query of its URL, without a question mark. `Debug` does not show it.
#[doc(alias = "SharedAccessSignature")]
#[doc(alias = "AzureSasCredential")]
#[derive(Clone, PartialEq, Eq)]
pub struct Sas(String);

/// Provides access tokens. The client requests one when it has none, when the last one is about to expire, and when the
/// service has rejected it. If the request fails, the client uses the last token until it expires, and then retries the
/// call within its limits.
pub trait TokenCredential: fmt::Debug + Send + Sync {
    /// Requests a token for a scope, which for storage is `https://storage.azure.com/.default`.
    fn get_token<'a>(
        &'a self,
        scope: &'a str,
    ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>>;
}

/// An access token and its expiry. `Debug` does not show the token.
#[derive(Clone)]
pub struct AccessToken {
    /// The token, without `Bearer`.
    pub token: String,
    /// The expiry. The client requests a token without one again for every attempt.
    pub expires_on: Option<SystemTime>,
}

impl Credential {
    /// Returns the credential of an account's name and its key in Base64.
    pub fn shared_key(account: impl Into<String>, key: &str) -> Result<Self> {
        SharedKey::new(account, key).map(Self::SharedKey)
    }

    /// Returns the credential of a shared access signature, with or without its question mark.
    pub fn sas(query: impl AsRef<str>) -> Self {
        Self::Sas(Sas::from(query.as_ref()))
    }

    /// Returns a credential that authenticates by access tokens.
    pub fn token(credential: impl TokenCredential + 'static) -> Self {
        Self::Token(Arc::new(credential))
    }
}

impl SharedKey {
    /// Parses an account's key, which is Base64.
    pub fn new(account: impl Into<String>, key: &str) -> Result<Self> {
        let key = AccountKey::parse(key).map_err(|error| Error::invalid(error.to_string()))?;
        Ok(Self { account: account.into(), key })
    }

    /// Returns the account's name.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Returns the key, which signs requests. `Debug` does not show it.
    pub fn key(&self) -> &AccountKey {
        &self.key
    }
}

impl Sas {
    /// Returns the signature as the query of a URL, without a question mark.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Sas {
    fn from(query: &str) -> Self {
        let query = query.trim();
        Self(query.strip_prefix('?').unwrap_or(query).to_owned())
    }
}

impl From<String> for Sas {
    fn from(query: String) -> Self {
        Self::from(query.as_str())
    }
}

impl From<SharedKey> for Credential {
    fn from(key: SharedKey) -> Self {
        Self::SharedKey(key)
    }
}

impl From<Sas> for Credential {
    fn from(sas: Sas) -> Self {
        Self::Sas(sas)
    }
}

impl fmt::Debug for Sas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sas(..)")
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").field("expires_on", &self.expires_on).finish_non_exhaustive()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedKey(shared) => write!(f, "SharedKey({})", shared.account),
            Self::Sas(sas) => sas.fmt(f),
            // The Debug of a token credential may show a secret.
            Self::Token(_) => f.write_str("Token(..)"),
            Self::Anonymous => f.write_str("Anonymous"),
        }
    }
}

/// The last token, which all requests of a client share.
#[derive(Debug, Default)]
pub(crate) struct TokenCache {
    last: Mutex<Option<AccessToken>>,
    /// Held by the request that renews the token.
    renewal: tokio::sync::Mutex<()>,
}

impl TokenCache {
    /// Returns a valid token. Concurrent requests share one renewal. While the last token is valid, a renewal takes at
    /// most `timeout`; if it fails, the next request renews again.
    pub(crate) async fn token(
        &self,
        credential: &dyn TokenCredential,
        scope: &str,
        now: SystemTime,
        timeout: Duration,
    ) -> Result<Arc<str>> {
        let fresh = || self.valid_at(now + TOKEN_RENEWAL_AHEAD);
        if let Some(token) = fresh() {
            return Ok(token);
        }
        match self.valid_at(now) {
            Some(last) => {
                let Ok(_renewal) = self.renewal.try_lock() else { return Ok(last) };
                let renewed = tokio::time::timeout(timeout, self.renew(credential, scope)).await;
                Ok(renewed.ok().and_then(Result::ok).unwrap_or(last))
            }
            None => {
                let _renewal = self.renewal.lock().await;
                match fresh() {
                    Some(token) => Ok(token),
                    None => self.renew(credential, scope).await,
                }
            }
        }
    }

    /// Discards a token that the service has rejected, unless it has been renewed already.
    pub(crate) fn forget(&self, rejected: &str) {
        let mut last = self.last();
        if last.as_ref().is_some_and(|last| last.token == rejected) {
            *last = None;
        }
    }

    async fn renew(&self, credential: &dyn TokenCredential, scope: &str) -> Result<Arc<str>> {
        let renewed = credential.get_token(scope).await.map_err(Error::token)?;
        let token = renewed.token.as_str().into();
        *self.last() = Some(renewed);
        Ok(token)
    }

    fn valid_at(&self, time: SystemTime) -> Option<Arc<str>> {
        self.last().as_ref().filter(|last| last.is_valid_at(time)).map(|last| last.token.as_str().into())
    }

    fn last(&self) -> MutexGuard<'_, Option<AccessToken>> {
        // A panic elsewhere does not damage the token.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AccessToken {
    fn is_valid_at(&self, time: SystemTime) -> bool {
        self.expires_on.is_some_and(|expiry| time < expiry)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::UNIX_EPOCH;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(5);

    #[derive(Debug, Default)]
    struct Counted(AtomicU32);

    impl TokenCredential for Counted {
        fn get_token<'a>(
            &'a self,
            scope: &'a str,
        ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
            Box::pin(async move {
                let number = self.0.fetch_add(1, Ordering::Relaxed);
                let expires_on = Some(UNIX_EPOCH + Duration::from_secs(3600 * u64::from(number + 1)));
                Ok(AccessToken { token: format!("{scope} {number}"), expires_on })
            })
        }
    }

    #[tokio::test]
    async fn a_token_is_used_until_it_is_about_to_expire() {
        let (cache, source) = (TokenCache::default(), Counted::default());
        for (seconds, number) in [(0, 0), (3299, 0), (3300, 1), (3600, 1), (6900, 2)] {
            let now = UNIX_EPOCH + Duration::from_secs(seconds);
            let token = cache.token(&source, TOKEN_SCOPE, now, TIMEOUT).await.unwrap();
            assert_eq!(token.as_ref(), format!("{TOKEN_SCOPE} {number}"), "{seconds}");
        }
    }

    /// Returns one token for an hour, then fails, then hangs.
    #[derive(Debug, Default)]
    struct Failing(AtomicU32);

    impl TokenCredential for Failing {
        fn get_token<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
            Box::pin(async move {
                match self.0.fetch_add(1, Ordering::Relaxed) {
                    0 => Ok(AccessToken { token: "first".into(), expires_on: Some(at(3600)) }),
                    1 => Err("not today".into()),
                    _ => std::future::pending().await,
                }
            })
        }
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_used_to_its_end_if_there_is_no_other() {
        let (cache, source) = (TokenCache::default(), Failing::default());
        for seconds in [0, 3400, 3500, 3599] {
            assert_eq!(
                cache.token(&source, TOKEN_SCOPE, at(seconds), TIMEOUT).await.unwrap().as_ref(),
                "first",
                "{seconds}"
            );
        }
        assert_eq!(source.0.load(Ordering::Relaxed), 4);
        let source = Failing(AtomicU32::new(1));
        let error = cache.token(&source, TOKEN_SCOPE, at(3600), TIMEOUT).await.unwrap_err();
        assert!(matches!(error, Error::Token { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn only_the_rejected_token_is_forgotten() {
        let (cache, source) = (TokenCache::default(), Counted::default());
        let first = cache.token(&source, TOKEN_SCOPE, at(0), TIMEOUT).await.unwrap();
        cache.forget(&first);
        let second = cache.token(&source, TOKEN_SCOPE, at(0), TIMEOUT).await.unwrap();
        // Another request returns late with the rejection of the first token.
        cache.forget(&first);
        assert_eq!(cache.token(&source, TOKEN_SCOPE, at(0), TIMEOUT).await.unwrap(), second);
        assert_ne!(first, second);
    }

    #[test]
    fn secrets_do_not_print_themselves() {
        let key = Credential::shared_key("acct", "c2VjcmV0").unwrap();
        assert_eq!(format!("{key:?}"), "SharedKey(acct)");
        let sas = Credential::sas("?sv=1&sig=secret");
        assert_eq!(format!("{sas:?}"), "Sas(..)");
        assert_eq!(format!("{:?}", Credential::token(Failing::default())), "Token(..)");
        let token = AccessToken { token: "secret".into(), expires_on: None };
        assert!(!format!("{token:?}").contains("secret"));
        assert!(Credential::shared_key("acct", "?").is_err());
    }
}
