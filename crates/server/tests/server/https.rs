//! HTTPS: both versions of HTTP, and bearer tokens where they are allowed.

use std::sync::Arc;
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Request, StatusCode, Version};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tablerock_protocol::Service;
use tablerock_testkit::server::{Server, ServerOptions};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

async fn start(accept_tokens: bool) -> Server {
    Server::start(ServerOptions { tls: true, accept_tokens, ..ServerOptions::default() }).await
}

async fn connect(server: &Server, service: Service, protocol: &[u8]) -> tokio_rustls::client::TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(server.certificate.clone().expect("a server with TLS")).expect("our own certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the defaults are safe")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(("127.0.0.1", server.port(service))).await.expect("the server listens");
    let name = ServerName::try_from("localhost").expect("a host name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("the handshake succeeds")
}

/// Lists tables with a token, over HTTP/1.1.
async fn with_token(server: &Server, claims: &str) -> (StatusCode, String) {
    let token = format!("e30.{}.signature", URL_SAFE_NO_PAD.encode(claims));
    let request = Request::get("/acct/Tables")
        .header("host", format!("localhost:{}", server.port(Service::Table)))
        .header("accept", "application/json;odata=nometadata")
        .header("x-ms-version", "2020-12-06")
        .header("authorization", format!("Bearer {token}"));
    let stream = TokioIo::new(connect(server, Service::Table, b"http/1.1").await);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.expect("HTTP/1.1");
    tokio::spawn(connection);
    read(sender.send_request(request.body(Empty::<Bytes>::new()).expect("a request")).await.expect("a response")).await
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
    let stream = TokioIo::new(connect(&server, Service::Table, b"h2").await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
    tokio::spawn(connection);
    let url = format!("https://localhost:{}/acct/Tables", server.port(Service::Table));
    let request: Request<Empty<Bytes>> = Request::get(url)
        .version(Version::HTTP_2)
        .header("x-ms-version", "2020-12-06")
        .body(Empty::new())
        .expect("a request");
    let response = sender.send_request(request).await.expect("a response");
    assert_eq!(response.version(), Version::HTTP_2);
    let (status, body) = read(response).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(body.contains("NoAuthenticationInformation"), "{body}");
}

#[tokio::test]
async fn tokens_are_judged_by_their_claims_in_development() {
    let server = start(true).await;
    let (status, body) = with_token(&server, &claims("https://storage.azure.com/", FAR)).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "{\"value\":[]}"));
    for refused in [claims("https://graph.example", FAR), claims("https://storage.azure.com", 1), "no json".to_owned()]
    {
        let (status, body) = with_token(&server, &refused).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{refused}");
        assert!(body.contains("InvalidAuthenticationInfo"), "{body}");
    }
}

/// A write with a token to the service of blobs. The copy source is named by its path.
async fn put_with_token(server: &Server, path: &str, headers: &[(&str, &str)], body: &'static str) -> StatusCode {
    let authority = format!("localhost:{}", server.port(Service::Blob));
    let token = format!("e30.{}.signature", URL_SAFE_NO_PAD.encode(claims("https://storage.azure.com", FAR)));
    let mut request = Request::put(path)
        .header("host", &authority)
        .header("x-ms-version", "2021-12-02")
        .header("content-length", body.len())
        .header("authorization", format!("Bearer {token}"));
    for (name, value) in headers {
        let is_source = *name == "x-ms-copy-source";
        request =
            request.header(*name, if is_source { format!("https://{authority}{value}") } else { value.to_string() });
    }
    let stream = TokioIo::new(connect(server, Service::Blob, b"http/1.1").await);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.expect("HTTP/1.1");
    tokio::spawn(connection);
    let request = request.body(Full::new(Bytes::from_static(body.as_bytes()))).expect("a request");
    sender.send_request(request).await.expect("a response").status()
}

#[tokio::test]
async fn a_token_reads_the_source_of_a_copy_too() {
    let server = start(true).await;
    let (block, append) = (("x-ms-blob-type", "BlockBlob"), ("x-ms-blob-type", "AppendBlob"));
    for (path, headers, body) in [
        ("/acct/photos?restype=container", &[][..], ""),
        ("/acct/photos/from", &[block], "content"),
        ("/acct/photos/log", &[append], ""),
    ] {
        assert_eq!(put_with_token(&server, path, headers, body).await, StatusCode::CREATED, "{path}");
    }
    let source = ("x-ms-copy-source", "/acct/photos/from");
    for (path, header, status) in [
        ("/acct/photos/new", block, StatusCode::CREATED),
        ("/acct/photos/new?comp=block&blockid=QQ%3D%3D", block, StatusCode::CREATED),
        ("/acct/photos/log?comp=appendblock", append, StatusCode::CREATED),
        ("/acct/photos/copy", ("x-ms-requires-sync", "true"), StatusCode::ACCEPTED),
    ] {
        assert_eq!(put_with_token(&server, path, &[header, source], "").await, status, "{path}");
    }
}

#[tokio::test]
async fn tokens_are_refused_unless_told_otherwise() {
    let server = start(false).await;
    let (status, _) = with_token(&server, &claims("https://storage.azure.com", FAR)).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_stop_ends_the_server_although_a_connection_is_idle() {
    let server = start(false).await;
    let idle = connect(&server, Service::Table, b"http/1.1").await;
    let ended = tokio::time::timeout(Duration::from_secs(10), server.stop()).await;
    assert!(ended.is_ok(), "an idle connection held up the stop");
    drop(idle);
}

#[tokio::test]
async fn plain_bytes_on_the_tls_port_disturb_nobody() {
    use tokio::io::AsyncWriteExt;
    let server = start(true).await;
    let mut stream = TcpStream::connect(("127.0.0.1", server.port(Service::Table))).await.expect("the server listens");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("bytes can be sent");
    let (status, _) = with_token(&server, &claims("https://storage.azure.com", FAR)).await;
    assert_eq!(status, StatusCode::OK);
}
