//! Who the client is: an account's key, a shared access signature, or whoever an access token says.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tablerock_protocol::signing::AccountKey;

use crate::transport::BoxFuture;
use crate::{Error, Result};

/// A token is replaced before it expires, so that none expires on its way.
const TOKEN_RENEWAL_AHEAD: Duration = Duration::from_secs(5 * 60);
/// The scope that tokens for storage are asked for.
const TOKEN_SCOPE: &str = "https://storage.azure.com/.default";

/// How requests prove who sends them.
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// The account's name and one of its two keys. It can do everything, and make shared access signatures.
    SharedKey(SharedKey),
    /// A shared access signature: the query of its URL, without a question mark.
    Sas(Sas),
    /// An access token of Microsoft Entra.
    Token(Arc<dyn TokenSource>),
    /// Nobody: good for public blobs only.
    Anonymous,
}

/// An account and one of its keys.
#[derive(Debug, Clone)]
pub struct SharedKey {
    pub(crate) account: String,
    pub(crate) key: AccountKey,
}

/// A shared access signature. It is a secret, so it does not show itself when printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Sas(String);

/// Gets access tokens. A source is asked when there is no token yet, when the last one is about to expire, and when the
/// service has refused it. If it fails, the last token serves as long as it is good, and after that the call is tried
/// again within its bounds.
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// Gets a token for a scope, which for storage is `https://storage.azure.com/.default`.
    fn token<'a>(
        &'a self,
        scope: &'a str,
    ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>>;
}

/// A token and how long it is good for.
#[derive(Clone)]
pub struct AccessToken {
    /// The token as it goes into the header.
    pub secret: String,
    /// When it expires; a token without an expiry is asked for again each time.
    pub expires_at: Option<SystemTime>,
}

impl Credential {
    /// An account's name and key, the latter in Base64.
    pub fn shared_key(account: impl Into<String>, key: &str) -> Result<Self> {
        SharedKey::new(account, key).map(Self::SharedKey)
    }

    /// A shared access signature, with or without its question mark.
    pub fn sas(query: impl AsRef<str>) -> Self {
        Self::Sas(Sas::from(query.as_ref()))
    }

    /// Tokens from a source.
    pub fn token(source: impl TokenSource + 'static) -> Self {
        Self::Token(Arc::new(source))
    }
}

impl SharedKey {
    /// An account's name and key, the latter in Base64.
    pub fn new(account: impl Into<String>, key: &str) -> Result<Self> {
        let key = AccountKey::parse(key).map_err(|error| Error::invalid(error.to_string()))?;
        Ok(Self { account: account.into(), key })
    }

    /// The account's name.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// The key, which signs and never shows itself.
    pub fn key(&self) -> &AccountKey {
        &self.key
    }
}

impl Sas {
    /// The token as it stands in a URL, without a question mark.
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
        f.debug_struct("AccessToken").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedKey(shared) => write!(f, "SharedKey({})", shared.account),
            Self::Sas(sas) => sas.fmt(f),
            // A source may show in its own way what it gets tokens with.
            Self::Token(_) => f.write_str("Token(..)"),
            Self::Anonymous => f.write_str("Anonymous"),
        }
    }
}

/// The last token, shared by all requests of a client.
#[derive(Debug, Default)]
pub(crate) struct TokenCache {
    last: Mutex<Option<AccessToken>>,
    /// Held by the request that asks the source.
    turn: tokio::sync::Mutex<()>,
}

impl TokenCache {
    /// A token that is good for a while. Requests that come together wait for one answer of the source. While the last
    /// token has not expired nobody waits for longer than `patience`: a source that fails or hesitates is asked again by
    /// the next request.
    pub(crate) async fn secret(
        &self,
        source: &dyn TokenSource,
        now: SystemTime,
        patience: Duration,
    ) -> Result<Arc<str>> {
        let fresh = || self.good_at(now + TOKEN_RENEWAL_AHEAD);
        if let Some(secret) = fresh() {
            return Ok(secret);
        }
        match self.good_at(now) {
            Some(last) => {
                let Ok(_turn) = self.turn.try_lock() else { return Ok(last) };
                let renewed = tokio::time::timeout(patience, self.ask(source)).await;
                Ok(renewed.ok().and_then(Result::ok).unwrap_or(last))
            }
            None => {
                let _turn = self.turn.lock().await;
                match fresh() {
                    Some(secret) => Ok(secret),
                    None => self.ask(source).await,
                }
            }
        }
    }

    /// Has the next request ask for another token, because the service does not want this one; unless another is there
    /// already.
    pub(crate) fn forget(&self, secret: &str) {
        let mut last = self.last();
        if last.as_ref().is_some_and(|token| token.secret == secret) {
            *last = None;
        }
    }

    async fn ask(&self, source: &dyn TokenSource) -> Result<Arc<str>> {
        let token = source.token(TOKEN_SCOPE).await.map_err(Error::token)?;
        let secret = token.secret.as_str().into();
        *self.last() = Some(token);
        Ok(secret)
    }

    fn good_at(&self, time: SystemTime) -> Option<Arc<str>> {
        self.last().as_ref().filter(|token| token.is_good_at(time)).map(|token| token.secret.as_str().into())
    }

    fn last(&self) -> MutexGuard<'_, Option<AccessToken>> {
        // A token is good whoever panicked beside it.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AccessToken {
    fn is_good_at(&self, time: SystemTime) -> bool {
        self.expires_at.is_some_and(|expiry| time < expiry)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::UNIX_EPOCH;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[derive(Debug, Default)]
    struct Counted(AtomicU32);

    impl TokenSource for Counted {
        fn token<'a>(
            &'a self,
            scope: &'a str,
        ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
            Box::pin(async move {
                let number = self.0.fetch_add(1, Ordering::Relaxed);
                let expires_at = Some(UNIX_EPOCH + Duration::from_secs(3600 * u64::from(number + 1)));
                Ok(AccessToken { secret: format!("{scope} {number}"), expires_at })
            })
        }
    }

    #[tokio::test]
    async fn a_token_is_used_until_it_is_about_to_expire() {
        let (cache, source) = (TokenCache::default(), Counted::default());
        for (seconds, number) in [(0, 0), (3299, 0), (3300, 1), (3600, 1), (6900, 2)] {
            let now = UNIX_EPOCH + Duration::from_secs(seconds);
            let secret = cache.secret(&source, now, PATIENCE).await.unwrap();
            assert_eq!(secret.as_ref(), format!("{TOKEN_SCOPE} {number}"), "{seconds}");
        }
    }

    /// A source that has one token for an hour and then only excuses.
    #[derive(Debug, Default)]
    struct Failing(AtomicU32);

    impl TokenSource for Failing {
        fn token<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
            Box::pin(async move {
                match self.0.fetch_add(1, Ordering::Relaxed) {
                    0 => Ok(AccessToken { secret: "first".into(), expires_at: Some(at(3600)) }),
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
            assert_eq!(cache.secret(&source, at(seconds), PATIENCE).await.unwrap().as_ref(), "first", "{seconds}");
        }
        assert_eq!(source.0.load(Ordering::Relaxed), 4);
        let source = Failing(AtomicU32::new(1));
        let error = cache.secret(&source, at(3600), PATIENCE).await.unwrap_err();
        assert!(matches!(error, Error::Token { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn only_the_token_that_was_refused_is_forgotten() {
        let (cache, source) = (TokenCache::default(), Counted::default());
        let first = cache.secret(&source, at(0), PATIENCE).await.unwrap();
        cache.forget(&first);
        let second = cache.secret(&source, at(0), PATIENCE).await.unwrap();
        // Another request comes back late with the refusal of the first.
        cache.forget(&first);
        assert_eq!(cache.secret(&source, at(0), PATIENCE).await.unwrap(), second);
        assert_ne!(first, second);
    }

    #[test]
    fn secrets_do_not_print_themselves() {
        let key = Credential::shared_key("acct", "c2VjcmV0").unwrap();
        assert_eq!(format!("{key:?}"), "SharedKey(acct)");
        let sas = Credential::sas("?sv=1&sig=secret");
        assert_eq!(format!("{sas:?}"), "Sas(..)");
        assert_eq!(format!("{:?}", Credential::token(Failing::default())), "Token(..)");
        let token = AccessToken { secret: "secret".into(), expires_at: None };
        assert!(!format!("{token:?}").contains("secret"));
        assert!(Credential::shared_key("acct", "?").is_err());
    }
}
