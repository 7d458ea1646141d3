//! The connections of the admin address. Each serves one request within a short time, and at the limit the oldest one is
//! closed, so that idle connections, half-sent requests and slow readers never keep a probe waiting.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::http::response_body::ResponseBody;

/// Scrapers and probes are few.
const CONNECTIONS_MAX: usize = 64;
/// The time of a connection, from accept to close. A probe needs milliseconds, a scrape less than a second.
const CONNECTION_TIME: Duration = Duration::from_secs(10);
/// The request line and headers of a probe or a browser.
const HEAD_BYTES: usize = 16 * 1024;
/// How long a shutdown waits for responses in progress.
const STOP_WAIT: Duration = Duration::from_secs(1);
/// The pause after a failed accept, which usually means that file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections and runs `reply` for the request of each, until `stop` turns true.
pub(super) async fn serve<R, F>(listener: TcpListener, mut stop: watch::Receiver<bool>, reply: R)
where
    R: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let mut open = OpenConnections::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, _)) => open.add(connection(stream, stop.clone(), reply.clone())),
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        // A request that is already in the socket is served before further connections can displace it.
        tokio::task::yield_now().await;
    }
    drop(listener);
    let ended = async { while open.tasks.join_next().await.is_some() {} };
    // Connections that outlast the wait are closed with the set.
    let _ = tokio::time::timeout(STOP_WAIT, ended).await;
}

/// The running connections, at most [`CONNECTIONS_MAX`].
#[derive(Default)]
struct OpenConnections {
    tasks: JoinSet<()>,
    by_age: VecDeque<AbortHandle>,
}

impl OpenConnections {
    /// Runs a connection, and closes the oldest ones above the limit.
    fn add(&mut self, connection: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        self.by_age.retain(|task| !task.is_finished());
        while self.by_age.len() >= CONNECTIONS_MAX
            && let Some(oldest) = self.by_age.pop_front()
        {
            oldest.abort();
        }
        self.by_age.push_back(self.tasks.spawn(connection));
    }
}

async fn connection<R, F>(stream: TcpStream, mut stop: watch::Receiver<bool>, reply: R)
where
    R: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let reply = reply(request);
        async move { Ok::<_, Infallible>(reply.await) }
    });
    let mut http = http1::Builder::new();
    http.keep_alive(false).max_buf_size(HEAD_BYTES);
    let mut served = pin!(http.serve_connection(TokioIo::new(stream), service));
    let serving = async {
        tokio::select! {
            ended = served.as_mut() => return ended,
            _ = stop.wait_for(|stop| *stop) => {}
        }
        served.as_mut().graceful_shutdown();
        served.await
    };
    if let Ok(Err(error)) = tokio::time::timeout(CONNECTION_TIME, serving).await {
        tracing::debug!(%error, "admin connection failed");
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use bytes::Bytes;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// More than the buffers of a socket hold.
    const LARGE: usize = 32 << 20;

    async fn listen() -> (SocketAddr, watch::Sender<bool>, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let large = Bytes::from(vec![b'a'; LARGE]);
        let reply = move |request: Request<Incoming>| {
            let is_large = request.uri().path() == "/large";
            let body = if is_large { large.clone() } else { Bytes::from_static(b"ok") };
            std::future::ready(Response::new(ResponseBody::whole(body)))
        };
        (address, stop, tokio::spawn(serve(listener, stopped, reply)))
    }

    async fn send(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn expect_response(address: SocketAddr) {
        let mut stream = send(address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let mut response = String::new();
        let read = tokio::time::timeout(Duration::from_secs(1), stream.read_to_string(&mut response)).await;
        assert!(read.is_ok() && response.starts_with("HTTP/1.1 200 OK"), "{response:?}");
    }

    #[tokio::test]
    async fn connections_that_make_no_progress_delay_no_request() {
        let (address, _stop, _serving) = listen().await;
        for opening in ["", "GET / HTTP/1.1\r\nHo", "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
            let mut held = Vec::new();
            for _ in 0..3 * CONNECTIONS_MAX {
                held.push(send(address, opening).await);
            }
            expect_response(address).await;
        }
    }

    #[tokio::test]
    async fn a_stop_closes_idle_connections() {
        let (address, stop, serving) = listen().await;
        let mut idle = send(address, "").await;
        expect_response(address).await;
        stop.send(true).unwrap();
        assert_eq!(idle.read(&mut [0; 1]).await.unwrap(), 0);
        serving.await.unwrap();
    }
}
