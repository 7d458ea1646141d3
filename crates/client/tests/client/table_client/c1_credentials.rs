//! Connection strings, Shared Key, SAS and access tokens, over http and https, in path style and host style.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Request, Response, Uri};
use tablerock_client::transport::{BoxFuture, HyperTransport, Transport, TransportError};
use tablerock_client::{
    AccessToken, ClientOptions, Credential, Endpoint, Entity, Error, ErrorCode, TableClient, TableServiceClient,
    TokenCredential,
};
use tablerock_protocol::Service;

use crate::support::{Account, Script, Server, ServerOptions, Step, unique_name};

async fn works(service: &TableServiceClient) {
    let table = service.table(unique_name());
    table.create().await.unwrap();
    table.insert(&Entity::new("o'b é", "r")).await.unwrap();
    let read: Entity = table.get("o'b é", "r").await.unwrap();
    assert_eq!(table.query::<Entity>().partition("o'b é").first().await.unwrap().as_ref(), Some(&read));
    let group = table.transaction().replace(&read).insert(&Entity::new("o'b é", "s"));
    group.commit().await.unwrap();
    service.get_properties().await.unwrap();
    table.delete_table().await.unwrap();
}

#[tokio::test]
async fn a_connection_string_is_all_it_takes() {
    works(&Account::open().await.tables()).await;
}

#[tokio::test]
async fn an_endpoint_and_a_key_do_as_well() {
    let account = Account::open().await;
    let tables = account.tables();
    let connection = tablerock_client::ConnectionString::parse(account.connection_string()).unwrap();
    let endpoint = Endpoint::parse(&format!("{}/", tables.endpoint())).unwrap();
    works(&TableServiceClient::new(endpoint, connection.credential().clone()).unwrap()).await;
}

#[tokio::test]
async fn a_wrong_key_is_refused() {
    let account = Account::open().await;
    let connection = tablerock_client::ConnectionString::parse(account.connection_string()).unwrap();
    let wrong = Credential::shared_key(connection.account().unwrap(), "d3Jvbmc=").unwrap();
    let stranger = account.tables().with_credential(wrong).unwrap();
    let error = stranger.table("any").get::<Entity>("p", "r").await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(403), Some(ErrorCode::AuthenticationFailed)));
}

/// Sends requests for a host of the cloud to the server of the test, with the original host in `Host`.
#[derive(Debug)]
struct ToTheTest {
    authority: String,
    transport: HyperTransport,
}

impl Transport for ToTheTest {
    fn send(&self, mut request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let host = request.uri().authority().unwrap().to_string();
        let target = request.uri().path_and_query().unwrap().to_string();
        request.headers_mut().insert("host", host.parse().unwrap());
        *request.uri_mut() = Uri::try_from(format!("http://{}{target}", self.authority)).unwrap();
        self.transport.send(request)
    }
}

#[tokio::test]
async fn host_style_works_as_in_the_cloud() {
    let server = Server::start(ServerOptions::default()).await;
    let text = format!("AccountName={};AccountKey={}", Server::ACCOUNT, Server::KEY);
    let authority = format!("127.0.0.1:{}", server.port(Service::Table));
    let transport = ToTheTest { authority, transport: HyperTransport::without_tls() };
    let options = ClientOptions::new().transport(transport);
    let service = TableServiceClient::from_connection_string_with(&text, options).unwrap();
    assert_eq!(service.endpoint().to_string(), "https://acct.table.core.windows.net");
    works(&service).await;
    service.get_statistics().await.unwrap();
}

/// Tokens that a server in development takes for what they say.
#[derive(Debug, Default, Clone)]
struct Tokens {
    asked: Arc<AtomicU32>,
}

impl TokenCredential for Tokens {
    fn get_token<'a>(
        &'a self,
        scope: &'a str,
    ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let audience = scope.trim_end_matches("/.default");
            let claims = URL_SAFE_NO_PAD.encode(format!(r#"{{"aud":"{audience}","exp":32503680000}}"#));
            let expires_on = std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(32_503_680_000));
            Ok(AccessToken { token: format!("e30.{claims}.signature"), expires_on })
        })
    }
}

/// Trusts the server's own certificate and no other.
fn trusting(server: &Server) -> HyperTransport {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(server.certificate.clone().unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    HyperTransport::with_tls(config.with_root_certificates(roots).with_no_client_auth())
}

#[tokio::test]
async fn tokens_work_over_https_and_are_asked_for_once() {
    let server = Server::start(ServerOptions { tls: true, accept_tokens: true, ..ServerOptions::default() }).await;
    let tokens = Tokens::default();
    let endpoint = Endpoint::parse(&server.endpoint(Service::Table)).unwrap();
    let options = ClientOptions::new().transport(trusting(&server));
    let service = TableServiceClient::with_options(endpoint, Credential::token(tokens.clone()), options).unwrap();
    let table = service.table(unique_name());
    table.create().await.unwrap();
    table.insert(&Entity::new("p", "r")).await.unwrap();
    table.get::<Entity>("p", "r").await.unwrap();
    assert_eq!(tokens.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_key_works_over_https() {
    let server = Server::start(ServerOptions { tls: true, ..ServerOptions::default() }).await;
    let options = ClientOptions::new().transport(trusting(&server));
    works(&TableServiceClient::from_connection_string_with(&server.connection_string(), options).unwrap()).await;
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_talked_to() {
    let server = Server::start(ServerOptions { tls: true, ..ServerOptions::default() }).await;
    let options = ClientOptions::new().retry(tablerock_client::RetryPolicy::none());
    let service = TableServiceClient::from_connection_string_with(&server.connection_string(), options).unwrap();
    let error = service.table("any").get::<Entity>("p", "r").await.unwrap_err();
    assert!(matches!(&error, Error::Transport { source, .. } if !source.may_have_arrived()), "{error:?}");
}

/// A client with tokens, whose network is a script.
fn with_tokens(
    source: impl TokenCredential + 'static,
    steps: Vec<Step>,
    options: ClientOptions,
) -> (TableClient, Script) {
    let script = Script::new(steps);
    let endpoint = Endpoint::parse("http://127.0.0.1:1/acct").unwrap();
    let options = options.transport(script.clone());
    let service = TableServiceClient::with_options(endpoint, Credential::token(source), options).unwrap();
    (service.table("any"), script)
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once() {
    let tokens = Tokens::default();
    let steps = [404, 401, 404, 401, 401, 404].map(Step::status).to_vec();
    let (table, script) = with_tokens(tokens.clone(), steps, ClientOptions::new());
    for (status, asked) in [(404, 1), (404, 2), (401, 3), (404, 4)] {
        let error = table.get::<Entity>("p", "r").await.unwrap_err();
        assert_eq!((error.status(), tokens.asked.load(Ordering::Relaxed)), (Some(status), asked));
    }
    let bearer =
        |request: &Request<Bytes>| request.headers()["authorization"].to_str().unwrap().starts_with("Bearer e30.");
    assert!(script.requests().len() == 6 && script.requests().iter().all(bearer));
}

/// A source that fails this often before it returns a token, or never returns.
#[derive(Debug)]
struct Troubled {
    failures: AtomicU32,
    hangs: bool,
}

impl TokenCredential for Troubled {
    fn get_token<'a>(
        &'a self,
        scope: &'a str,
    ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
        Box::pin(async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            match self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
                Ok(_) => Err("the directory is busy".into()),
                Err(_) => Tokens::default().get_token(scope).await,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_of_tokens_that_fails_is_asked_again_within_the_bounds() {
    let source = |failures| Troubled { failures: AtomicU32::new(failures), hangs: false };
    let (table, script) = with_tokens(source(2), vec![Step::status(404)], ClientOptions::new());
    assert!(table.get::<Entity>("p", "r").await.unwrap_err().is_not_found());
    assert_eq!(script.requests().len(), 1);
    let (table, script) = with_tokens(source(9), vec![], ClientOptions::new());
    let error = table.insert(&Entity::new("p", "r")).await.unwrap_err();
    assert!(matches!(error, Error::Token { .. }) && !error.is_ambiguous(), "{error:?}");
    assert!(script.requests().is_empty());
    // A source that never returns has as much time as an attempt has, and nothing was sent.
    let options = ClientOptions::new().attempt_timeout(Duration::from_secs(4)).timeout(Duration::from_secs(10));
    let (table, _) = with_tokens(Troubled { failures: AtomicU32::new(0), hangs: true }, vec![], options);
    let started = tokio::time::Instant::now();
    let error = table.insert(&Entity::new("p", "r")).await.unwrap_err();
    assert!(matches!(error, Error::Token { .. }) && !error.is_ambiguous(), "{error:?}");
    assert!(started.elapsed() <= Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_client_does_not_print_its_secrets() {
    #[derive(Debug)]
    #[expect(dead_code, reason = "it is only printed, or rather not")]
    struct Talkative(&'static str);
    impl TokenCredential for Talkative {
        fn get_token<'a>(
            &'a self,
            scope: &'a str,
        ) -> BoxFuture<'a, Result<AccessToken, Box<dyn std::error::Error + Send + Sync>>> {
            Box::pin(async move { Tokens::default().get_token(scope).await })
        }
    }
    for credential in [
        Credential::token(Talkative("hush")),
        Credential::sas("sv=1&sig=hush"),
        Credential::shared_key("acct", "aHVzaA==").unwrap(),
    ] {
        let endpoint = Endpoint::parse("https://acct.table.example").unwrap();
        let shown = format!("{:?}", TableServiceClient::new(endpoint, credential).unwrap().table("T"));
        assert!(!shown.contains("hush") && !shown.contains("aHVzaA"), "{shown}");
    }
}

#[test]
fn a_token_is_not_sent_in_the_clear() {
    let endpoint = Endpoint::parse("http://acct.table.example").unwrap();
    let error = TableServiceClient::new(endpoint, Credential::token(Tokens::default())).unwrap_err();
    assert!(error.to_string().contains("plain http"), "{error}");
}
