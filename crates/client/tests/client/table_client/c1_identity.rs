//! Tokens of a client secret, a workload identity and a managed identity, from an endpoint on this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tablerock_client::identity::{ClientSecretCredential, ManagedIdentityCredential, WorkloadIdentityCredential};
use tablerock_client::{
    ClientOptions, Credential, Endpoint, Entity, Error, RetryPolicy, TableServiceClient, TokenCredential,
};
use tablerock_protocol::Service;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{Server, ServerOptions, unique_name};

/// An endpoint that issues tokens of a lifetime, and keeps what it was asked.
#[derive(Clone)]
struct Issuer {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Issuer {
    /// Returns a body for each request, the last one again and again.
    async fn start(responses: Vec<(u16, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Self { url: format!("http://{}", listener.local_addr().unwrap()), asked: Arc::default() };
        let asked = Arc::clone(&issuer.asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 16 * 1024];
                let mut length = 0;
                while !is_whole(&request[..length]) {
                    length += stream.read(&mut request[length..]).await.unwrap();
                }
                // Long enough for others to ask as well.
                tokio::time::sleep(Duration::from_millis(20)).await;
                let place = {
                    let mut asked = asked.lock().unwrap();
                    asked.push(String::from_utf8(request[..length].to_vec()).unwrap());
                    (asked.len() - 1).min(responses.len() - 1)
                };
                let (status, body) = &responses[place];
                let head =
                    format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        });
        issuer
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |text| text.parse().unwrap());
    body.len() >= length
}

fn token(lifetime: &str) -> (u16, String) {
    let claims = URL_SAFE_NO_PAD.encode(r#"{"aud":"https://storage.azure.com","exp":32503680000}"#);
    (200, format!(r#"{{"token_type":"Bearer",{lifetime},"access_token":"e30.{claims}.signature"}}"#))
}

async fn server() -> Server {
    Server::start(ServerOptions { accept_tokens: true, tls: true, ..ServerOptions::default() }).await
}

fn service(server: &Server, credential: impl TokenCredential + 'static) -> TableServiceClient {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(server.certificate.clone().unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let transport = tablerock_client::transport::HyperTransport::with_tls(config);
    let options = ClientOptions::new().retry(RetryPolicy::none()).transport(transport);
    let endpoint = Endpoint::parse(&server.endpoint(Service::Table)).unwrap();
    TableServiceClient::with_options(endpoint, Credential::token(credential), options).unwrap()
}

#[tokio::test]
async fn a_client_secret_gets_one_token_for_all_calls() {
    let (server, issuer) = (server().await, Issuer::start(vec![token(r#""expires_in":3600"#)]).await);
    let credential =
        ClientSecretCredential::new("my tenant", "app", "s&cret=1").unwrap().authority(&issuer.url).unwrap();
    assert!(!format!("{credential:?}").contains("cret=1"));
    let table = service(&server, credential).table(unique_name());
    table.create().await.unwrap();
    let writes = (0..20).map(|row| table.insert(&Entity::new("p", row.to_string())).into_future());
    futures_util::future::try_join_all(writes).await.unwrap();
    let asked = issuer.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("POST /my%20tenant/oauth2/v2.0/token HTTP/1.1\r\n"), "{}", asked[0]);
    let form = "grant_type=client%5Fcredentials&client_id=app&client_secret=s%26cret%3D1&\
                scope=https%3A%2F%2Fstorage%2Eazure%2Ecom%2F%2Edefault";
    assert!(asked[0].ends_with(form), "{}", asked[0]);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires() {
    // The first one is about to expire, so the second call asks again; calls at once ask once.
    let responses = vec![token(r#""expires_in":"60""#), token(r#""expires_in":"3600""#)];
    let (server, issuer) = (server().await, Issuer::start(responses).await);
    let credential = ClientSecretCredential::new("t", "app", "secret").unwrap().authority(&issuer.url).unwrap();
    let table = service(&server, credential).table(unique_name());
    table.create().await.unwrap();
    let reads = (0..20).map(|_| table.get_if_exists::<Entity>("p", "r").into_future());
    futures_util::future::try_join_all(reads).await.unwrap();
    assert_eq!(issuer.asked().len(), 2);
}

#[tokio::test]
async fn a_workload_identity_reads_its_file_for_each_token() {
    let (server, issuer) = (server().await, Issuer::start(vec![token(r#""expires_in":60"#)]).await);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    let credential = WorkloadIdentityCredential::new("t", "app", &file).unwrap().authority(&issuer.url).unwrap();
    let table = service(&server, credential).table(unique_name());
    let error = table.create().await.unwrap_err();
    assert!(matches!(&error, Error::Token { source, .. } if source.to_string().contains("token")), "{error:?}");
    std::fs::write(&file, "first\n").unwrap();
    table.create().await.unwrap();
    std::fs::write(&file, "second\n").unwrap();
    table.insert(&Entity::new("p", "r")).await.unwrap();
    let asked = issuer.asked();
    assert!(asked[0].contains("client_assertion=first&"), "{}", asked[0]);
    assert!(asked[1].contains("client_assertion=second&"), "{}", asked[1]);
}

#[tokio::test]
async fn a_managed_identity_asks_its_host() {
    let lifetime = r#""expires_on":"32503680000","expires_in":"3600""#;
    let (server, issuer) = (server().await, Issuer::start(vec![token(lifetime)]).await);
    let url = format!("{}/metadata/identity/oauth2/token", issuer.url);
    let credential = ManagedIdentityCredential::with_endpoint(&url).unwrap().client_id("mine");
    service(&server, credential).table(unique_name()).create().await.unwrap();
    let credential = ManagedIdentityCredential::for_app_service(&url, "secret").unwrap();
    assert!(!format!("{credential:?}").contains("secret"));
    service(&server, credential).table(unique_name()).create().await.unwrap();
    let asked = issuer.asked();
    let query = "resource=https%3A%2F%2Fstorage%2Eazure%2Ecom";
    let expected =
        format!("GET /metadata/identity/oauth2/token?api-version=2018%2D02%2D01&{query}&client_id=mine HTTP");
    assert!(asked[0].starts_with(&expected) && asked[0].contains("metadata: true\r\n"), "{}", asked[0]);
    assert!(asked[1].contains("x-identity-header: secret\r\n"), "{}", asked[1]);
}

#[tokio::test]
async fn a_refusal_is_told_without_the_secret() {
    let refusal = r#"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}"#;
    let (server, issuer) = (server().await, Issuer::start(vec![(401, refusal.to_owned())]).await);
    let credential = ClientSecretCredential::new("t", "app", "hidden").unwrap().authority(&issuer.url).unwrap();
    let error = service(&server, credential).table("T").create().await.unwrap_err();
    let Error::Token { source, .. } = &error else { panic!("{error:?}") };
    assert!(source.to_string().contains("invalid_client AADSTS7000215") && !format!("{error:?}").contains("hidden"));
    assert!(ClientSecretCredential::new("t", "app", "x").unwrap().authority("http://login.example").is_err());
    assert!(ClientSecretCredential::new("t", "app", "").is_err());
    let oversized = Issuer::start(vec![(200, "x".repeat(70_000))]).await;
    let credential = ManagedIdentityCredential::with_endpoint(&oversized.url).unwrap();
    assert!(
        credential.get_token("https://storage.azure.com/.default").await.unwrap_err().to_string().contains("65536")
    );
}
