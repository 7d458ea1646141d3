//! HTTPS: both versions of HTTP, and bearer tokens where they are allowed.

use std::sync::Arc;
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Request, StatusCode, Version};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName};
use tablerock_kv::{Clock, Rng, Store, SystemClock};
use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{AccountName, Service};
use tablerock_server::{Account, Accounts, Listening, MemoryBudget, Metrics, Operation, Server, serve_service, tls};
use tablerock_services::{AccountService, Analytics, BlobService, QueueService, TableService, ThrottleTargets};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsConnector;

/// A server on a port of its own, stopped when dropped.
struct Running {
    port: u16,
    certificate: CertificateDer<'static>,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
}

async fn start(accept_tokens: bool) -> Running {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate can be made");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, signed.cert.pem()).expect("a file can be written");
    std::fs::write(&key, signed.signing_key.serialize_pem()).expect("a file can be written");
    let acceptor = tls::acceptor(&cert, &key).expect("the certificate fits its key");

    let (store, clock): (Store, Arc<dyn Clock>) = (Store::in_memory(), Arc::new(SystemClock));
    let tables = TableService::open(store.clone(), clock.clone(), ThrottleTargets::default()).await;
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::seeded(2)).await;
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::seeded(3)).await;
    let blobs = blobs.expect("an empty store opens");
    let settings = AccountService::new(store);
    let analytics = Analytics::open(&settings, &blobs, clock.clone(), ["acct"], Operation::names_of).await;
    let name = AccountName::parse("acct").expect("an account name");
    let server = Arc::new(Server {
        accounts: Accounts::new([Account { name, keys: vec![AccountKey::from_bytes(b"key")] }]),
        tables: tables.expect("a fresh store opens"),
        queues: queues.expect("an empty store opens"),
        blobs,
        settings,
        analytics: analytics.expect("a fresh store opens"),
        clock,
        rng: Rng::seeded(1),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens,
        host_style: true,
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("it listens").port();
    let (stop, stopped) = watch::channel(false);
    let listening = Listening { tls: Some(acceptor), connections_max: 8, idle_time: Duration::from_secs(10) };
    let serving = tokio::spawn(serve_service(Service::Table, server, listener, listening, stopped));
    Running { port, certificate: signed.cert.der().clone(), stop, serving }
}

impl Running {
    async fn connect(&self, protocol: &[u8]) -> tokio_rustls::client::TlsStream<TcpStream> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("our own certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the defaults are safe")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.expect("the server listens");
        let name = ServerName::try_from("localhost").expect("a host name");
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("the handshake succeeds")
    }

    /// Lists tables with a token, over HTTP/1.1.
    async fn with_token(&self, claims: &str) -> (StatusCode, String) {
        let token = format!("e30.{}.signature", URL_SAFE_NO_PAD.encode(claims));
        let request = Request::get("/acct/Tables")
            .header("host", format!("localhost:{}", self.port))
            .header("accept", "application/json;odata=nometadata")
            .header("x-ms-version", "2020-12-06")
            .header("authorization", format!("Bearer {token}"));
        let stream = TokioIo::new(self.connect(b"http/1.1").await);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.expect("HTTP/1.1");
        tokio::spawn(connection);
        read(sender.send_request(request.body(Empty::<Bytes>::new()).expect("a request")).await.expect("an answer"))
            .await
    }
}

async fn read(response: http::Response<Incoming>) -> (StatusCode, String) {
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

fn claims(audience: &str, expires: i64) -> String {
    format!("{{\"aud\":\"{audience}\",\"exp\":{expires}}}")
}

const FAR: i64 = 9_999_999_999;

#[tokio::test]
async fn http2_is_served_over_tls() {
    let server = start(false).await;
    let stream = TokioIo::new(server.connect(b"h2").await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    let url = format!("https://localhost:{}/acct/Tables", server.port);
    let request: Request<Empty<Bytes>> =
        Request::get(url).version(Version::HTTP_2).body(Empty::new()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    assert_eq!(response.version(), Version::HTTP_2);
    let (status, body) = read(response).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(body.contains("NoAuthenticationInformation"), "{body}");
}

#[tokio::test]
async fn tokens_are_judged_by_their_claims_in_development() {
    let server = start(true).await;
    let (status, body) = server.with_token(&claims("https://storage.azure.com/", FAR)).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "{\"value\":[]}"));
    for refused in [claims("https://graph.example", FAR), claims("https://storage.azure.com", 1), "no json".to_owned()]
    {
        let (status, body) = server.with_token(&refused).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{refused}");
        assert!(body.contains("InvalidAuthenticationInfo"), "{body}");
    }
}

#[tokio::test]
async fn tokens_are_refused_unless_told_otherwise() {
    let server = start(false).await;
    let (status, _) = server.with_token(&claims("https://storage.azure.com", FAR)).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_stop_ends_the_server_although_a_connection_is_idle() {
    let server = start(false).await;
    let idle = server.connect(b"http/1.1").await;
    server.stop.send(true).expect("the server listens for it");
    let ended = tokio::time::timeout(Duration::from_secs(10), server.serving).await;
    assert!(ended.is_ok(), "an idle connection held up the stop");
    drop(idle);
}

#[tokio::test]
async fn plain_bytes_on_the_tls_port_disturb_nobody() {
    use tokio::io::AsyncWriteExt;
    let server = start(true).await;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.expect("the server listens");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("bytes can be sent");
    let (status, _) = server.with_token(&claims("https://storage.azure.com", FAR)).await;
    assert_eq!(status, StatusCode::OK);
}
