//! Masks the signatures of SAS tokens in text that is logged or shown.
//!
//! A signature may stand in a URL, or percent-encoded inside another URL. Whatever could be read as one is masked.

use std::borrow::Cow;

use crate::query_string;

/// The text that replaces a signature.
const MASK: &str = "XXXXX";
/// The parameter of a SAS that is a credential.
const SIGNATURE: &str = "sig";
/// The characters that begin a name in a query, a fragment or the parameters of a path.
const DELIMITERS: [char; 4] = ['?', '&', '#', ';'];
/// URLs within URLs are decoded this often.
const DECODINGS_MAX: usize = 3;

/// Masks all signatures in a URL, or in a text that may hold one.
pub fn mask_signatures(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for segment in text.split_inclusive(DELIMITERS) {
        let delimiter = segment.chars().next_back().filter(|last| DELIMITERS.contains(last));
        let segment = segment.trim_end_matches(DELIMITERS);
        match segment.split_once('=') {
            Some((name, value)) => {
                // The first segment is an address. If it has an equals sign, its text before that is not a name and is kept.
                masked.push_str(&mask_nested(name));
                masked.push('=');
                masked.push_str(&mask_value(&decoded(name), value));
            }
            None => masked.push_str(&mask_nested(segment)),
        }
        masked.extend(delimiter);
    }
    masked
}

/// Whether a query, as on the wire, has a signature.
pub fn has_signature(query: &str) -> bool {
    query.split('&').any(|pair| is_signature(&decoded_once(pair.split_once('=').map_or(pair, |(name, _)| name))))
}

/// Masks the value of a parameter if it is a signature, or has one inside.
pub(crate) fn mask_value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_signature(name) { Cow::Borrowed(MASK) } else { mask_nested(value) }
}

/// Masks a text as a whole if a signature is percent-encoded inside.
fn mask_nested(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '=']) {
        return Cow::Borrowed(text);
    }
    let decoded = decoded(text);
    let names = decoded.split(DELIMITERS).filter_map(|pair| pair.split_once('=')).map(|(name, _)| name);
    if names.into_iter().any(is_signature) { Cow::Borrowed(MASK) } else { Cow::Borrowed(text) }
}

fn is_signature(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case(SIGNATURE)
}

/// Decodes until nothing changes, within a bound.
fn decoded(text: &str) -> Cow<'_, str> {
    let mut decoded = Cow::Borrowed(text);
    for _ in 0..DECODINGS_MAX {
        if !decoded.contains('%') {
            break;
        }
        decoded = Cow::Owned(decoded_once(&decoded).into_owned());
    }
    decoded
}

/// Decodes once. Text that is not UTF-8 stays as it is.
fn decoded_once(text: &str) -> Cow<'_, str> {
    query_string::decode(text).unwrap_or(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_masked_however_they_are_written() {
        for (text, expected) in [
            ("http://h/a/c/b?sv=2019&sig=secret%3D&se=1", "http://h/a/c/b?sv=2019&sig=XXXXX&se=1"),
            ("http://h/a?%73ig=secret", "http://h/a?%73ig=XXXXX"),
            ("http://h/a?SIG=secret&a=", "http://h/a?SIG=XXXXX&a="),
            ("http://h/a?x=1&%2573ig=secret", "http://h/a?x=1&%2573ig=XXXXX"),
            ("http://h/a#sig=secret", "http://h/a#sig=XXXXX"),
            ("http://h/a;sig=secret", "http://h/a;sig=XXXXX"),
            ("http://h/?u=http%3A%2F%2Fx%3Fsv%3D1%26sig%3Dsecret&b=2", "http://h/?u=XXXXX&b=2"),
            ("http://h/?sig%3Dsecret", "http://h/?XXXXX"),
            ("http://h/?u=x&sig==secret=", "http://h/?u=x&sig=XXXXX"),
            ("sig=secret", "sig=XXXXX"),
        ] {
            assert_eq!(mask_signatures(text), expected);
        }
        for plain in ["", "http://h/acct/c/b%20c?snapshot=2019&x=design%3D1", "100%", "%ff?a=%ff", "a?&&#;"] {
            assert_eq!(mask_signatures(plain), plain);
        }
    }

    #[test]
    fn a_signature_counts_by_the_name_that_a_server_reads() {
        assert!(has_signature("sv=1&%73ig=x") && has_signature("Sig=x") && has_signature("sig"));
        assert!(!has_signature("design=x&signature=y") && !has_signature(""));
    }
}
