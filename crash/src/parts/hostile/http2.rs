//! A hostile HTTP/2 client. It follows the protocol, returns pings and reads nothing.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Ping, SendStream};
use http::Request;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::server::Program;

/// The certificate of a server under test, which its clients trust.
#[derive(Debug, Clone)]
pub struct Certificate(CertificateDer<'static>);

impl Certificate {
    /// Creates a certificate, and returns the program that uses it.
    pub fn install(program: &Program, folder: &Path) -> Result<(Self, Program), String> {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(|error| error.to_string())?;
        let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
        let written =
            fs::write(&cert, signed.cert.pem()).and_then(|()| fs::write(&key, signed.signing_key.serialize_pem()));
        written.map_err(|error| format!("{}: {error}", cert.display()))?;
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let program = program.with_arguments(&["--cert", &path(&cert), "--key", &path(&key)]);
        Ok((Self(signed.cert.der().clone()), program))
    }

    /// Opens a TLS connection to a port, with one protocol.
    pub async fn connect(&self, port: u16, protocol: &[u8]) -> Result<TlsStream<TcpStream>, String> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.0.clone()).map_err(|error| error.to_string())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = config.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let tcp = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| error.to_string())?;
        let name = ServerName::try_from("localhost").map_err(|error| error.to_string())?;
        TlsConnector::from(Arc::new(config)).connect(name, tcp).await.map_err(|error| error.to_string())
    }
}

/// One connection of the client, closed when dropped.
pub struct Http2Client {
    requests: SendRequest<Bytes>,
    port: u16,
    pings: Option<h2::PingPong>,
    /// Responses and bodies that are neither read nor completed.
    open: Vec<(ResponseFuture, SendStream<Bytes>)>,
    driver: JoinHandle<()>,
    _stop: StopOnDrop,
}

impl std::fmt::Debug for Http2Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http2Client").field("port", &self.port).field("open", &self.open.len()).finish_non_exhaustive()
    }
}

struct StopOnDrop(AbortHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Http2Client {
    /// Connects. The server may send `window` bytes of each response.
    pub async fn connect(certificate: &Certificate, port: u16, window: u32) -> Result<Self, String> {
        let stream = certificate.connect(port, b"h2").await?;
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err("the server does not offer HTTP/2".to_owned());
        }
        let handshake = h2::client::Builder::new().initial_window_size(window).handshake::<_, Bytes>(stream).await;
        let (requests, mut connection) = handshake.map_err(|error| error.to_string())?;
        let pings = connection.ping_pong();
        let driver = tokio::spawn(async move {
            let _ = connection.await;
        });
        let stop = StopOnDrop(driver.abort_handle());
        Ok(Self { requests, port, pings, open: Vec::new(), driver, _stop: stop })
    }

    /// Sends the head of a request, with a header of `padding` bytes. The body of a POST never comes. Returns whether the
    /// server allowed another stream.
    pub async fn send(&mut self, method: &str, path: &str, padding: usize) -> Result<bool, String> {
        let uri = format!("https://localhost:{}{path}", self.port);
        let request = Request::builder().method(method).uri(uri).header("x-ms-version", "2021-12-02");
        let request = request.header("x-padding", "x".repeat(padding)).body(()).map_err(|error| error.to_string())?;
        let ready = std::future::poll_fn(|context| self.requests.poll_ready(context));
        match tokio::time::timeout(Duration::from_secs(2), ready).await {
            Err(_) => return Ok(false),
            Ok(ready) => ready.map_err(|error| error.to_string())?,
        }
        let sent = self.requests.send_request(request, method == "GET").map_err(|error| error.to_string())?;
        self.open.push(sent);
        Ok(true)
    }

    /// The status of the response to the last request, within the time.
    pub async fn status(&mut self, time: Duration) -> Result<u16, String> {
        let (response, _) = self.open.last_mut().ok_or("no request was sent")?;
        match tokio::time::timeout(time, response).await {
            Ok(Ok(response)) => Ok(response.status().as_u16()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no response within {} s", time.as_secs())),
        }
    }

    /// Waits until all requests have a response, up to a time, and returns how many have.
    pub async fn begun_responses(&mut self, time: Duration) -> usize {
        let deadline = Instant::now() + time;
        let mut begun = 0;
        for (response, _) in &mut self.open {
            begun += usize::from(matches!(tokio::time::timeout_at(deadline, response).await, Ok(Ok(_))));
        }
        begun
    }

    /// Sends pings until the server closes the connection; `false` if it does not within the time.
    pub async fn is_closed_within(&mut self, time: Duration) -> bool {
        let Some(mut pings) = self.pings.take() else { return false };
        let ping = async {
            while pings.ping(Ping::opaque()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            let _ = (&mut self.driver).await;
        };
        tokio::time::timeout(time, ping).await.is_ok()
    }
}
