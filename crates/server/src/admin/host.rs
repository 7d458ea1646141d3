//! The Host check. A web page can point a name of its own at 127.0.0.1 (DNS rebinding), and its requests then carry that
//! name. Requests of local tools carry `localhost` or a loopback address.

use std::net::IpAddr;

use http::Request;
use http::header::HOST;
use http::uri::Authority;

/// Returns whether a request is addressed to this machine by a name that no web page can take. A request without Host is:
/// browsers always send one.
pub(super) fn is_local<B>(request: &Request<B>) -> bool {
    let named = request.headers().get_all(HOST).iter();
    let mut named = named.map(|value| value.to_str().ok().and_then(|text| text.parse::<Authority>().ok()));
    let is_local = |authority: &Authority| is_local_host(authority.host());
    request.uri().authority().is_none_or(is_local) && named.all(|authority| authority.as_ref().is_some_and(is_local))
}

fn is_local_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(hosts: &[&str]) -> Request<()> {
        let request = hosts.iter().fold(Request::get("/load"), |request, host| request.header(HOST, *host));
        request.body(()).unwrap()
    }

    #[test]
    fn only_names_of_this_machine_are_local() {
        for host in ["localhost", "LOCALHOST:10003", "127.0.0.1:1", "127.9.8.7", "[::1]:10003", "[::ffff:127.0.0.1]"] {
            assert!(is_local(&request(&[host])), "{host}");
        }
        let foreign =
            ["evil.example.com", "localhost.evil.example.com:10003", "127.0.0.1.evil.example.com", "10.0.0.1"];
        for host in foreign.into_iter().chain(["[::2]", "", "localhost@evil.example.com", "2130706433"]) {
            assert!(!is_local(&request(&[host])), "{host}");
        }
    }

    #[test]
    fn all_names_of_a_request_count() {
        assert!(is_local(&request(&[])), "HTTP/1.0");
        assert!(!is_local(&request(&["localhost", "evil.example.com"])));
        let absolute = Request::get("http://evil.example.com/load").header(HOST, "localhost").body(()).unwrap();
        assert!(!is_local(&absolute));
    }
}
