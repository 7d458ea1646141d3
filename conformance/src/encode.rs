//! Percent-encoding, as the clients of the service write URLs.

/// Encodes everything except the unreserved characters of RFC 3986, so a space becomes `%20` and a plus `%2B`.
pub fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A key as it stands between the quotes of an entity's path: apostrophes doubled, then everything encoded.
pub fn key(text: &str) -> String {
    percent(&text.replace('\'', "''"))
}

/// The key predicate of an entity's path, `(PartitionKey='p',RowKey='r')`.
pub fn keys(partition: &str, row: &str) -> String {
    format!("(PartitionKey='{}',RowKey='{}')", key(partition), key(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_doubled_then_encoded() {
        assert_eq!(keys("o'b r+", "é"), "(PartitionKey='o%27%27b%20r%2B',RowKey='%C3%A9')");
    }
}
