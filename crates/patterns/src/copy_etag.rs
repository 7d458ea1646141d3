//! The ETag of an entity that was read under the key of a copy: that of the copy, with its RowKey. A write then requires
//! this version of the copy, which every write of the entity changes.

use tablerock_client::{Error, Etag, Result};

/// Separates the service's ETag from the RowKey of the copy. No ETag of the service has it.
const SEPARATOR: &str = ";copy=";

/// Returns the ETag of an entity that was read as a copy.
pub(crate) fn of_copy(etag: &Etag, row_key: &str) -> Etag {
    // Hexadecimal digits, because a program may send an ETag in a header.
    let row_key: String = row_key.bytes().map(|byte| format!("{byte:02x}")).collect();
    Etag::from(format!("{etag}{SEPARATOR}{row_key}"))
}

/// Returns the service's ETag, and the RowKey of the copy if it is that of a copy.
pub(crate) fn split_etag(etag: &Etag) -> Result<(Etag, Option<String>)> {
    let Some((own, digits)) = etag.as_str().split_once(SEPARATOR) else { return Ok((etag.clone(), None)) };
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    let row_key = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    match row_key {
        Some(row_key) => Ok((Etag::from(own), Some(row_key))),
        None => Err(Error::Invalid(format!("{etag:?} is not the ETag of an entity or of its copy"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_etag_names_its_copy() {
        let etag = Etag::from("W/\"datetime'2026-11-18T12%3A00%3A00Z'\"");
        assert_eq!(split_etag(&etag).unwrap(), (etag.clone(), None));
        let of_copy = of_copy(&etag, "email_ä;copy=@x");
        assert!(of_copy.as_str().is_ascii());
        assert_eq!(split_etag(&of_copy).unwrap(), (etag, Some("email_ä;copy=@x".to_owned())));
        assert!(split_etag(&Etag::from("x;copy=zz")).is_err());
    }
}
