//! The source of a copy, as properties, lists and logs show it.

use std::fmt;

use crate::query_string;

/// The parameters that name a blob. All others are credentials, or change nothing about which blob it is.
const KEPT_PARAMETERS: [&str; 2] = ["snapshot", "versionid"];

/// The URL of a copy's source without its credentials. Of the query it has only the snapshot or version, so it cannot
/// hold a SAS: the token of a source would let every reader of the copy in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopySourceUrl(String);

impl CopySourceUrl {
    /// Takes the credentials out of a URL: user information, fragment, and all of the query that does not name the blob.
    pub fn without_credentials(url: &str) -> Self {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let mut clean = String::with_capacity(address.len());
        match address.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                [scheme, "://", host, path].into_iter().for_each(|piece| clean.push_str(piece));
            }
            None => clean.push_str(address),
        }
        for (index, pair) in query.split('&').filter(|pair| is_kept(pair)).enumerate() {
            clean.push(if index == 0 { '?' } else { '&' });
            clean.push_str(pair);
        }
        Self(clean)
    }

    /// Returns the URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CopySourceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_kept(pair: &str) -> bool {
    let name = pair.split_once('=').map_or(pair, |(name, _)| name);
    let name = query_string::decode(name);
    name.is_ok_and(|name| KEPT_PARAMETERS.iter().any(|kept| kept.eq_ignore_ascii_case(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_the_blob_is_left() {
        for (url, expected) in [
            ("http://h:1/acct/c/b%20c", "http://h:1/acct/c/b%20c"),
            ("http://h/acct/c/b?sv=1&sp=rwdl&sig=secret", "http://h/acct/c/b"),
            (
                "http://h/acct/c/b?sv=1&Snapshot=2019-05-09T00:48:31Z&%73ig=s",
                "http://h/acct/c/b?Snapshot=2019-05-09T00:48:31Z",
            ),
            ("http://h/a/c/b?versionid=1&sig=s&snapshot=2", "http://h/a/c/b?versionid=1&snapshot=2"),
            ("http://user:secret@h/a/c/b@d#sig=secret", "http://h/a/c/b@d"),
            ("http://user:secret@h?sig=secret", "http://h"),
            ("/a/c/b?sig=secret", "/a/c/b"),
            ("", ""),
        ] {
            assert_eq!(CopySourceUrl::without_credentials(url).as_str(), expected, "{url}");
        }
    }
}
