//! The token of requests that change the server. Probes and pages need none.

use std::fmt;

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};

/// A secret that the operator's programs read from a file. A web page can send a POST to loopback, and does not have it.
#[derive(Clone)]
pub struct AdminToken(String);

impl AdminToken {
    /// Creates a token from random bytes.
    pub fn new(random: &[u8; 32]) -> Self {
        Self(random.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The text after `Authorization: Bearer `.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks the header of a request, or returns the status and the reason of its rejection.
    pub(super) fn check(token: Option<&Self>, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let Some(token) = token else { return Err((StatusCode::FORBIDDEN, NOT_SERVED)) };
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let given = values.next().and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let is_valid = values.next().is_none() && given.is_some_and(|given| is_equal(given, token.0.as_bytes()));
        if is_valid { Ok(()) } else { Err((StatusCode::UNAUTHORIZED, TOKEN_REQUIRED)) }
    }
}

const NOT_SERVED: &str = "changes are not served; start the server with --admin-file, which gets the token\n";
const TOKEN_REQUIRED: &str = "send Authorization: Bearer TOKEN with the token in the file of --admin-file\n";

/// Compares in a time that depends on the lengths only.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(token: Option<&AdminToken>, given: &[&str]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        AdminToken::check(token, &headers).err().map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_the_token_itself_is_accepted() {
        let token = AdminToken::new(&[0xab; 32]);
        let valid = format!("Bearer {}", token.as_str());
        assert_eq!(status(Some(&token), &[&valid]), None);
        let shorter = &valid[..valid.len() - 1];
        for given in [&[][..], &["Bearer "], &[shorter], &["Basic YQ=="], &[&valid, &valid], &[token.as_str()]] {
            assert_eq!(status(Some(&token), given), Some(401), "{given:?}");
        }
        assert_eq!(status(None, &[&valid]), Some(403));
        assert!(!format!("{token:?}").contains("ab"));
    }
}
