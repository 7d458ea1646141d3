//! Shared Key and Shared Key Lite as the Table service signs them. The other services sign headers as well and
//! have strings of their own.

use super::SharedKeyScheme;
use super::secondary_path::paths_on_primary;
use crate::signing::AccountKey;

/// The parts of a request that are signed, exactly as they stood on the wire.
#[derive(Debug, Clone, Copy)]
pub struct TableRequestParts<'a> {
    /// In upper case; for a tunnelled request the method of the request line, `POST`.
    pub method: &'a str,
    /// Empty when the header is absent.
    pub content_md5: &'a str,
    /// Empty when the header is absent.
    pub content_type: &'a str,
    /// The value of `x-ms-date`, or of `Date` when there is none.
    pub date: &'a str,
    /// The account, without the suffix of its secondary endpoint.
    pub account: &'a str,
    /// The path of the request target: still percent-encoded, without the query.
    pub path: &'a str,
    /// The value of the query's `comp`, the one parameter that is signed.
    pub comp: Option<&'a str>,
}

impl TableRequestParts<'_> {
    /// Appends the string that a scheme signs.
    pub fn append_string_to_sign(&self, scheme: SharedKeyScheme, out: &mut String) {
        if scheme == SharedKeyScheme::SharedKey {
            for line in [self.method, self.content_md5, self.content_type] {
                out.push_str(line);
                out.push('\n');
            }
        }
        out.push_str(self.date);
        out.push('\n');
        self.append_canonicalized_resource(out);
    }

    fn append_canonicalized_resource(&self, out: &mut String) {
        out.push('/');
        out.push_str(self.account);
        out.push_str(self.path);
        if let Some(comp) = self.comp {
            out.push_str("?comp=");
            out.push_str(comp);
        }
    }

    /// The value of an `Authorization` header for this request.
    pub fn authorization(&self, scheme: SharedKeyScheme, key: &AccountKey) -> String {
        let mut string_to_sign = String::new();
        self.append_string_to_sign(scheme, &mut string_to_sign);
        format!("{} {}:{}", scheme.name(), self.account, key.sign(&string_to_sign))
    }

    /// Whether one of the keys has signed this request. `scratch` holds the string-to-sign meanwhile, so that a
    /// caller can lend the same buffer to every request.
    pub fn is_signed_by(
        &self,
        scheme: SharedKeyScheme,
        signature: &str,
        keys: &[AccountKey],
        scratch: &mut String,
    ) -> bool {
        let mut matches = |parts: &TableRequestParts<'_>| {
            scratch.clear();
            parts.append_string_to_sign(scheme, scratch);
            keys.iter().any(|key| key.verify(scratch, signature))
        };
        matches(self)
            || paths_on_primary(self.account, self.path)
                .iter()
                .any(|path| matches(&TableRequestParts { path, ..*self }))
    }
}
