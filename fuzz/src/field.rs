//! Single fields of requests to queues and blobs: headers, parameters, paths and names.
//!
//! Input: a byte that chooses the field, and its text. Each is read a second time here, by the book and without the
//! code of the parser, or written down again.

mod conditions;
mod headers;
mod names;
mod tags;

pub fn check(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match kind % 16 {
        0 => headers::check_range(text),
        1 => conditions::check(text),
        2 => headers::check_dates(text),
        3 => tags::check_header(text),
        4 => tags::check_condition(text),
        5 => headers::check_lease(text),
        6 => headers::check_base64(text),
        7 => headers::check_pop_receipt(text),
        8 => headers::check_metadata(text),
        9 => headers::check_version(text),
        10 => names::check_queue_path(text),
        11 => names::check_blob_path(text),
        12 => names::check(text),
        13 => headers::check_cors(text),
        14 => headers::check_media(text),
        _ => headers::check_token(text),
    }
}

/// A number as the services write one: digits, without a sign.
fn digits<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}
