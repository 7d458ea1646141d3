//! An account at an endpoint: a client for each service, and a printable name.

use std::time::Duration;

use tablerock_client::{
    BlobServiceClient, ClientOptions, ConnectionString, Credential, Endpoint, Error, QueueServiceClient, RetryPolicy,
    TableServiceClient,
};

/// A copy runs for hours and can wait until a service has restarted.
const TRIES_MAX: u32 = 8;
/// Enough for a block on a slow line.
const TRY_TIME_MAX: Duration = Duration::from_secs(120);
const CALL_TIME_MAX: Duration = Duration::from_secs(600);

/// The clients of one account. A service without an endpoint in the connection string has an error message instead.
#[derive(Debug)]
pub(super) struct WireAccount {
    /// The account's name, if known.
    pub(super) name: Option<String>,
    /// The endpoints, for messages and for the resume file. It contains no secrets.
    pub(super) label: String,
    pub(super) tables: Result<TableServiceClient, String>,
    pub(super) queues: Result<QueueServiceClient, String>,
    pub(super) blobs: Result<BlobServiceClient, String>,
    /// Stored access policies require the account's key.
    pub(super) has_key: bool,
}

impl WireAccount {
    /// Connects to the account of a connection string.
    pub(super) fn connect(text: &str, flag: &str) -> Result<Self, String> {
        let connection = ConnectionString::parse(text).map_err(|error| format!("{flag}: {error}"))?;
        let endpoints = [connection.table_endpoint(), connection.queue_endpoint(), connection.blob_endpoint()];
        let endpoints = endpoints.map(|endpoint| endpoint.map_err(|error| format!("{flag}: {error}")));
        if let [Err(error), Err(_), Err(_)] = &endpoints {
            return Err(error.clone());
        }
        let named = endpoints.iter().flatten().find_map(Endpoint::account).map(str::to_owned);
        let name = connection.account().map(str::to_owned).or(named);
        let label = endpoints.iter().flatten().map(Endpoint::to_string).collect::<Vec<_>>().join(" ");
        Self::new(name, label, endpoints, connection.credential()).map_err(|error| format!("{flag}: {error}"))
    }

    /// Returns the account with these endpoints of tables, queues and blobs.
    pub(super) fn new(
        name: Option<String>,
        label: String,
        endpoints: [Result<Endpoint, String>; 3],
        credential: &Credential,
    ) -> Result<Self, Error> {
        let [tables, queues, blobs] = endpoints;
        Ok(Self {
            name,
            label,
            tables: opened(tables, |at| TableServiceClient::with_options(at, credential.clone(), options()))?,
            queues: opened(queues, |at| QueueServiceClient::with_options(at, credential.clone(), options()))?,
            blobs: opened(blobs, |at| BlobServiceClient::with_options(at, credential.clone(), options()))?,
            has_key: matches!(credential, Credential::SharedKey(_)),
        })
    }
}

/// Returns the text of an error, with its causes.
pub(super) fn describe(error: &Error) -> String {
    match error.service_failure() {
        // The service's message may contain the signature and the string to sign.
        Some(failure) if failure.status == 403 || failure.status == 401 => {
            let code = if failure.code.is_empty() { "rejected" } else { failure.code.as_str() };
            format!("{code} ({}): check the key, or the permissions and the expiry of the signature", failure.status)
        }
        _ => {
            let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
            causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
        }
    }
}

fn options() -> ClientOptions {
    let retry = RetryPolicy::default().max_attempts(TRIES_MAX);
    ClientOptions::new()
        .retry(retry)
        .attempt_timeout(TRY_TIME_MAX)
        .timeout(CALL_TIME_MAX)
        .application_id("tablerock-copy")
}

fn opened<C>(
    endpoint: Result<Endpoint, String>,
    open: impl FnOnce(Endpoint) -> Result<C, Error>,
) -> Result<Result<C, String>, Error> {
    match endpoint {
        Ok(endpoint) => open(endpoint).map(Ok),
        Err(missing) => Ok(Err(missing)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_the_endpoint_and_no_secrets() {
        let account = WireAccount::connect("TableEndpoint=http://h:1/a;SharedAccessSignature=sig=x", "--to").unwrap();
        assert_eq!((account.label.as_str(), account.name.as_deref()), ("http://h:1/a", Some("a")));
        assert!(account.blobs.as_ref().err().is_some_and(|message| message.contains("BlobEndpoint")));
        assert!(!account.has_key && account.tables.is_ok());
    }

    #[test]
    fn an_endpoint_with_a_password_is_refused_without_showing_it() {
        let refused = WireAccount::connect("TableEndpoint=http://u:hush@h:1/a;SharedAccessSignature=sig=x", "--to");
        let message = refused.map(drop).unwrap_err();
        assert!(message.contains("http://h:1/a") && !message.contains("hush"), "{message}");
    }
}
