//! Connection strings.

use std::fmt;

use tablerock_protocol::Service;

use crate::endpoint::without_secrets;
use crate::{Credential, Endpoint, Error, Result};

const DEVELOPMENT_ACCOUNT: &str = "devstoreaccount1";
/// The published key of the development account, which is not a secret.
const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DEVELOPMENT_HOST: &str = "http://127.0.0.1";
const SUFFIX: &str = "core.windows.net";
const TABLE_SECONDARY: &str = "TableSecondaryEndpoint";

/// A parsed connection string: the endpoints and the credential of an account.
///
/// ```
/// use tablerock_client::ConnectionString;
///
/// let development = ConnectionString::parse("UseDevelopmentStorage=true")?;
/// assert_eq!(development.account(), Some("devstoreaccount1"));
///
/// let cloud = ConnectionString::parse("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=a2V5")?;
/// assert_eq!(cloud.table_endpoint()?.to_string(), "https://acct.table.core.windows.net");
/// # Ok::<(), tablerock_client::Error>(())
/// ```
#[derive(Clone)]
pub struct ConnectionString {
    account: Option<String>,
    credential: Credential,
    protocol: String,
    suffix: String,
    /// Whether the string has a suffix itself.
    has_suffix: bool,
    /// The explicit endpoints, by service.
    endpoints: [Option<String>; 3],
    /// The explicit endpoint of the tables in the secondary region.
    table_secondary: Option<String>,
}

impl ConnectionString {
    /// Parses `Name=value` pairs separated by semicolons. Names are case-insensitive.
    pub fn parse(text: &str) -> Result<Self> {
        let pairs = Pairs::parse(text)?;
        if pairs.value("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Self::development(&pairs);
        }
        let account = pairs.value("AccountName").map(str::to_owned);
        let credential = match (pairs.value("AccountKey"), pairs.value("SharedAccessSignature"), &account) {
            (Some(key), None, Some(account)) => Credential::shared_key(account, key)?,
            (None, Some(sas), _) => Credential::sas(sas),
            (Some(_), Some(_), _) => {
                return Err(invalid("has both AccountKey and SharedAccessSignature: remove one"));
            }
            (Some(_), None, None) => return Err(invalid("has AccountKey without AccountName")),
            (None, None, _) => return Err(invalid("has neither AccountKey nor SharedAccessSignature")),
        };
        Ok(Self {
            account,
            credential,
            protocol: pairs.value("DefaultEndpointsProtocol").unwrap_or("https").to_owned(),
            suffix: pairs.value("EndpointSuffix").unwrap_or(SUFFIX).trim_matches('.').to_owned(),
            has_suffix: pairs.value("EndpointSuffix").is_some(),
            endpoints: pairs.endpoints(),
            table_secondary: pairs.value(TABLE_SECONDARY).map(str::to_owned),
        })
    }

    /// The emulator on this machine or behind a proxy, unless endpoints are explicit. The emulator's ports replace a
    /// port in the proxy's URL.
    fn development(pairs: &Pairs<'_>) -> Result<Self> {
        let proxy = pairs.value("DevelopmentStorageProxyUri").unwrap_or(DEVELOPMENT_HOST);
        let root = Endpoint::parse(proxy)?.without_port();
        let endpoint = |port: u16| Some(format!("{root}:{port}/{DEVELOPMENT_ACCOUNT}"));
        let [blob, queue, table] = pairs.endpoints();
        Ok(Self {
            account: Some(DEVELOPMENT_ACCOUNT.to_owned()),
            credential: Credential::shared_key(DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY)?,
            protocol: "http".to_owned(),
            suffix: String::new(),
            has_suffix: false,
            endpoints: [
                blob.or_else(|| endpoint(10000)),
                queue.or_else(|| endpoint(10001)),
                table.or_else(|| endpoint(10002)),
            ],
            table_secondary: pairs.value(TABLE_SECONDARY).map(str::to_owned),
        })
    }

    /// Returns the account's name, if the string has one.
    pub fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    /// Returns the account's key or the shared access signature.
    pub fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Returns the endpoint of the Table service, with that of the secondary region if the string has one.
    pub fn table_endpoint(&self) -> Result<Endpoint> {
        let endpoint = self.endpoint(Service::Table)?;
        match &self.table_secondary {
            Some(secondary) => Ok(endpoint.with_secondary(Endpoint::parse(secondary)?)),
            None => Ok(endpoint),
        }
    }

    /// Returns the endpoint of the Queue service.
    pub fn queue_endpoint(&self) -> Result<Endpoint> {
        self.endpoint(Service::Queue)
    }

    /// Returns the endpoint of the Blob service.
    pub fn blob_endpoint(&self) -> Result<Endpoint> {
        self.endpoint(Service::Blob)
    }

    /// Returns whether the endpoint of a service is only a guess: the string names endpoints of other services, and no
    /// `EndpointSuffix` of an environment that has them all.
    #[doc(hidden)]
    pub fn is_endpoint_guessed(&self, service: Service) -> bool {
        let is_named =
            |known: Service| Service::ALL.iter().zip(&self.endpoints).any(|(s, at)| *s == known && at.is_some());
        !is_named(service) && !self.has_suffix && self.endpoints.iter().any(Option::is_some)
    }

    fn endpoint(&self, service: Service) -> Result<Endpoint> {
        let index = Service::ALL.iter().position(|known| *known == service).expect("all services are in the list");
        if let Some(explicit) = &self.endpoints[index] {
            return Endpoint::parse(explicit);
        }
        let account = self.account.as_ref();
        let account =
            account.ok_or_else(|| invalid(&format!("has neither AccountName nor {}", endpoint_name(service))))?;
        Endpoint::parse(&format!("{}://{account}.{}.{}", self.protocol, service.name(), self.suffix))
    }
}

/// Shows endpoints without query and user, which may be secrets.
impl fmt::Debug for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, credential, protocol, suffix, endpoints, table_secondary, .. } = self;
        let endpoints: Vec<_> =
            endpoints.iter().chain([table_secondary]).flatten().map(|url| without_secrets(url)).collect();
        let mut shown = f.debug_struct("ConnectionString");
        shown.field("account", account).field("credential", credential).field("protocol", protocol);
        shown.field("suffix", suffix).field("endpoints", &endpoints).finish()
    }
}

const fn endpoint_name(service: Service) -> &'static str {
    match service {
        Service::Blob => "BlobEndpoint",
        Service::Queue => "QueueEndpoint",
        Service::Table => "TableEndpoint",
    }
}

fn invalid(why: &str) -> Error {
    Error::invalid(format!("the connection string {why}"))
}

struct Pairs<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Pairs<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        // A key ends in equals signs: only the first one separates.
        let pairs = parts.map(|part| part.split_once('=').ok_or_else(|| invalid("has a part without an equals sign")));
        pairs.map(|pair| pair.map(|(name, value)| (name.trim(), value.trim()))).collect::<Result<_>>().map(Self)
    }

    /// Returns the explicit endpoints in the order of the services.
    fn endpoints(&self) -> [Option<String>; 3] {
        Service::ALL.map(|service| self.value(endpoint_name(service)).map(str::to_owned))
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        let pair = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        pair.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> String {
        ConnectionString::parse(text).unwrap().table_endpoint().unwrap().to_string()
    }

    #[test]
    fn endpoints_are_explicit_or_follow_from_the_account() {
        for (text, endpoint) in [
            ("AccountName=a;AccountKey=a2V5", "https://a.table.core.windows.net"),
            (
                "AccountName=a;AccountKey=a2V5;EndpointSuffix=core.chinacloudapi.cn;",
                "https://a.table.core.chinacloudapi.cn",
            ),
            ("defaultendpointsprotocol=http;accountname=a;accountkey=a2V5", "http://a.table.core.windows.net"),
            ("AccountName=a;AccountKey=a2V5;TableEndpoint=http://localhost:1/a/", "http://localhost:1/a"),
            ("TableEndpoint=https://x.y;SharedAccessSignature=?sv=1&sig=a%3D", "https://x.y"),
            ("AccountName=a;SharedAccessSignature=sv=1", "https://a.table.core.windows.net"),
            ("UseDevelopmentStorage=true", "http://127.0.0.1:10002/devstoreaccount1"),
            (
                "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite",
                "http://azurite:10002/devstoreaccount1",
            ),
            (
                "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite:8080/",
                "http://azurite:10002/devstoreaccount1",
            ),
            (
                "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://[::1]:8080",
                "http://[::1]:10002/devstoreaccount1",
            ),
            (
                "UseDevelopmentStorage=true;TableEndpoint=http://127.0.0.1:7/devstoreaccount1",
                "http://127.0.0.1:7/devstoreaccount1",
            ),
        ] {
            assert_eq!(table(text), endpoint, "{text}");
        }
        let development = ConnectionString::parse("UseDevelopmentStorage=true").unwrap();
        assert_eq!(development.blob_endpoint().unwrap().to_string(), "http://127.0.0.1:10000/devstoreaccount1");
        assert_eq!(development.queue_endpoint().unwrap().to_string(), "http://127.0.0.1:10001/devstoreaccount1");
    }

    #[test]
    fn the_secondary_endpoint_may_be_explicit() {
        let secondary = |text: &str| {
            let endpoint = ConnectionString::parse(text).unwrap().table_endpoint().unwrap();
            endpoint.secondary().map(|secondary| secondary.to_string())
        };
        let given = "AccountName=a;AccountKey=a2V5;TableEndpoint=https://x.example;\
                     TableSecondaryEndpoint=https://y.example";
        assert_eq!(secondary(given).as_deref(), Some("https://y.example"));
        let derived = secondary("AccountName=a;AccountKey=a2V5");
        assert_eq!(derived.as_deref(), Some("https://a-secondary.table.core.windows.net"));
    }

    #[test]
    fn debug_shows_no_secrets() {
        let text = "AccountName=a;SharedAccessSignature=sv=1&sig=secret1;TableEndpoint=https://x.y/a?sig=secret2;\
                    BlobEndpoint=https://user:secret3@x.y/a;TableSecondaryEndpoint=https://z.y?sig=secret4";
        let shown = format!("{:?}", ConnectionString::parse(text).unwrap());
        assert!(!shown.contains("secret") && shown.contains("https://x.y/a"), "{shown}");
    }

    #[test]
    fn an_invalid_string_is_rejected_with_the_reason() {
        for (text, why) in [
            ("", "neither AccountKey"),
            ("AccountName=a", "neither AccountKey"),
            ("AccountKey=a2V5", "without AccountName"),
            ("AccountName=a;AccountKey=?", "not Base64"),
            ("AccountName=a;AccountKey=a2V5;SharedAccessSignature=sv=1", "both"),
            ("AccountName", "without an equals sign"),
        ] {
            let error = ConnectionString::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        let nowhere = ConnectionString::parse("SharedAccessSignature=sv=1").unwrap();
        assert!(nowhere.table_endpoint().is_err());
    }
}
