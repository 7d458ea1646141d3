//! Messages to the supervisor that started the server: the protocol of `sd_notify`, which systemd's `Type=notify` and others
//! use. Without `NOTIFY_SOCKET` in the environment nothing is sent.

/// Reports that the server accepts requests.
pub(crate) fn ready() {
    send("READY=1");
}

/// Reports that the server finishes its requests and ends.
pub(crate) fn stopping() {
    send("STOPPING=1");
}

/// A supervisor that does not listen is not a reason to stop.
#[cfg(unix)]
fn send(message: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) else { return };
    if let Err(error) = send_to(&socket, message) {
        tracing::warn!(message, %error, "cannot notify the supervisor of NOTIFY_SOCKET");
    }
}

#[cfg(not(unix))]
fn send(_: &str) {}

#[cfg(unix)]
fn send_to(socket: &std::ffi::OsStr, message: &str) -> std::io::Result<()> {
    let sender = std::os::unix::net::UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    sender.send_to_addr(message.as_bytes(), &address(socket)?)?;
    Ok(())
}

/// The address of a socket: a path, or on Linux a name that begins with `@`.
#[cfg(unix)]
fn address(socket: &std::ffi::OsStr) -> std::io::Result<std::os::unix::net::SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = std::os::unix::ffi::OsStrExt::as_bytes(socket).strip_prefix(b"@") {
        return <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name);
    }
    std::os::unix::net::SocketAddr::from_pathname(socket)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn messages_reach_a_path_and_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("@tablerock-notify-{}", std::process::id());
        for socket in [path.as_os_str(), OsStr::new(&name)] {
            let supervisor = UnixDatagram::bind_addr(&address(socket).unwrap()).unwrap();
            send_to(socket, "READY=1").unwrap();
            let mut received = [0; 16];
            let length = supervisor.recv(&mut received).unwrap();
            assert_eq!(&received[..length], b"READY=1");
        }
        assert!(send_to(folder.path().join("missing").as_os_str(), "READY=1").is_err());
    }
}
