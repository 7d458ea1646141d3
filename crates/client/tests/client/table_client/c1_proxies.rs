//! Proxies: plain http, CONNECT tunnels, credentials and exceptions.

use std::sync::{Arc, Mutex};

use rustls::pki_types::ServerName;
use tablerock_client::transport::{HyperTransport, Proxy};
use tablerock_client::{ClientOptions, Entity, Error, RetryPolicy, TableServiceClient};
use tablerock_protocol::Service;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Server, ServerOptions, unique_name};

/// A proxy that leads every target to one server, and keeps the heads of what it was asked.
#[derive(Clone)]
struct TestProxy {
    address: std::net::SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl TestProxy {
    async fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self { address: listener.local_addr().unwrap(), heads: Arc::default() };
        let serving = proxy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream, server_port));
            }
        });
        proxy
    }

    async fn serve(self, mut stream: TcpStream, server_port: u16) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        self.heads.lock().unwrap().push(head.clone());
        // The credentials are user:pass word.
        if !head.to_lowercase().contains("proxy-authorization: basic dxnlcjpwyxnzihdvcmq=") {
            let refused = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(refused.as_bytes()).await.unwrap();
            return;
        }
        let mut server = TcpStream::connect(("127.0.0.1", server_port)).await.unwrap();
        match head.starts_with("CONNECT ") {
            true => stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap(),
            false => server.write_all(head.as_bytes()).await.unwrap(),
        }
        tokio::io::copy_bidirectional(&mut stream, &mut server).await.ok();
    }

    fn url(&self, credentials: &str) -> String {
        format!("http://{credentials}{}", self.address)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

const CREDENTIALS: &str = "user:pass%20word@";

fn service(endpoint: &str, transport: HyperTransport) -> TableServiceClient {
    let text = format!("AccountName={};AccountKey={};TableEndpoint={endpoint}", Server::ACCOUNT, Server::KEY);
    let options = ClientOptions::new().retry(RetryPolicy::none()).transport(transport);
    TableServiceClient::from_connection_string_with(&text, options).unwrap()
}

async fn works(service: &TableServiceClient) {
    let table = service.table(unique_name());
    table.create().await.unwrap();
    table.insert(&Entity::new("p", "r")).await.unwrap();
    table.get::<Entity>("p", "r").await.unwrap();
}

#[tokio::test]
async fn plain_http_goes_through_the_proxy_with_its_credentials() {
    let server = Server::start(ServerOptions::default()).await;
    let proxy = TestProxy::start(server.port(Service::Table)).await;
    let endpoint = format!("http://tables.test/{}", Server::ACCOUNT);
    let through = |url: &str| HyperTransport::builder().proxy(Proxy::new(url).unwrap()).build();
    works(&service(&endpoint, through(&proxy.url(CREDENTIALS)))).await;
    assert!(proxy.heads()[0].starts_with("POST http://tables.test/"), "{:?}", proxy.heads());
    let refused = service(&endpoint, through(&proxy.url(""))).table("T").create().await.unwrap_err();
    assert_eq!(refused.status(), Some(407));
}

/// Trusts the server's certificate under any name, for the target has none of the server's.
#[derive(Debug)]
struct AnyName(Arc<rustls::client::WebPkiServerVerifier>);

impl rustls::client::danger::ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &rustls::pki_types::CertificateDer<'_>,
        others: &[rustls::pki_types::CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        assert_eq!(name, &ServerName::try_from("tables.test").unwrap(), "TLS is with the target, not the proxy");
        let known = ServerName::try_from("localhost").unwrap();
        self.0.verify_server_cert(certificate, others, &known, response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &rustls::pki_types::CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &rustls::pki_types::CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let server = Server::start(ServerOptions { tls: true, ..ServerOptions::default() }).await;
    let proxy = TestProxy::start(server.port(Service::Table)).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(server.certificate.clone().unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = rustls::client::WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(AnyName(verifier.build().unwrap())));
    let builder = HyperTransport::builder().tls(config.with_no_client_auth());
    let endpoint = format!("https://tables.test/{}", Server::ACCOUNT);
    let transport = builder.clone().proxy(Proxy::new(&proxy.url(CREDENTIALS)).unwrap()).build();
    works(&service(&endpoint, transport)).await;
    // One tunnel has all requests, and the proxy sees none of them.
    assert_eq!(proxy.heads().len(), 1);
    assert!(proxy.heads()[0].starts_with("CONNECT tables.test:443 HTTP/1.1\r\n"), "{:?}", proxy.heads());

    let transport = builder.clone().proxy(Proxy::new(&proxy.url("")).unwrap()).build();
    let error = service(&endpoint, transport).table("T").create().await.unwrap_err();
    assert!(matches!(&error, Error::Transport { .. }) && !error.is_ambiguous(), "{error:?}");
}

#[tokio::test]
async fn exceptions_and_this_machine_have_no_proxy() {
    let server = Server::start(ServerOptions::default()).await;
    let proxy = TestProxy::start(server.port(Service::Table)).await;
    let url = proxy.url(CREDENTIALS);
    let transport = HyperTransport::builder().proxy(Proxy::new(&url).unwrap()).build();
    works(&service(&server.endpoint(Service::Table), transport)).await;
    let excepted = Proxy::with_exceptions(&url, "other.example,.test").unwrap();
    let transport = HyperTransport::builder().proxy(excepted).build();
    // The name does not exist, so a request past the proxy cannot connect.
    service("http://tables.test/a", transport).table("T").create().await.unwrap_err();
    assert!(proxy.heads().is_empty(), "{:?}", proxy.heads());
    for url in ["socks5://127.0.0.1:1", "https://proxy:1", ""] {
        assert!(Proxy::new(url).is_err(), "{url}");
    }
    let shown = format!("{:?} {}", Proxy::new(&url).unwrap(), Proxy::new("ftp://u:pass%20word@p").unwrap_err());
    assert!(!shown.contains("pass"), "{shown}");
}

/// The role of a test in a child process, which has the endpoint. The environment of a process cannot be changed safely
/// while its tests run.
const CHILD: &str = "TABLEROCK_TEST_PROXIED_ENDPOINT";

/// Sends requests in a process with these variables, and returns whether they succeed.
async fn works_with(endpoint: &str, variables: &[(&str, &str)]) -> bool {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "table_client::c1_proxies::the_proxy_of_the_environment_is_used"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"] {
        child.env_remove(name).env_remove(name.to_lowercase());
    }
    child.envs(variables.iter().copied()).env(CHILD, endpoint);
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("running 1 test"), "{printed}");
    output.status.success()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_proxy_of_the_environment_is_used() {
    if let Ok(endpoint) = std::env::var(CHILD) {
        return works(&service(&endpoint, HyperTransport::without_tls())).await;
    }
    let server = Server::start(ServerOptions::default()).await;
    let proxy = TestProxy::start(server.port(Service::Table)).await;
    let endpoint = format!("http://tables.test/{}", Server::ACCOUNT);
    let url = proxy.url(CREDENTIALS);
    for (count, name) in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"].into_iter().enumerate() {
        assert!(works_with(&endpoint, &[(name, &url)]).await, "{name}");
        assert_eq!(proxy.heads().len(), count + 1, "{name}: {:?}", proxy.heads());
    }
    // Without a proxy the name cannot be found.
    assert!(!works_with(&endpoint, &[("HTTP_PROXY", &url), ("NO_PROXY", "tables.test")]).await);
    assert!(!works_with(&endpoint, &[("HTTPS_PROXY", &url)]).await);
    assert!(works_with(&server.endpoint(Service::Table), &[("HTTP_PROXY", &url)]).await);
    assert_eq!(proxy.heads().len(), 3, "{:?}", proxy.heads());
}
