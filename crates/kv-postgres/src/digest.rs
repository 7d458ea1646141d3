//! The digest by which values are compared.
//!
//! A commit may expect many megabytes of values. So each row has a digest of its value, and the database receives and
//! compares sixteen bytes per record.

use sha2::{Digest as _, Sha256};

/// The first half of a SHA-256: finding two values with the same digest is infeasible.
pub(crate) type Digest = [u8; 16];

pub(crate) fn of(value: &[u8]) -> Digest {
    let whole: [u8; 32] = Sha256::digest(value).into();
    *whole.first_chunk().expect("half of it is there")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_digest_is_the_first_half_of_sha_256() {
        // Rows are written by one version of this program and compared by another.
        let empty = [0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24];
        assert_eq!(super::of(b""), empty);
    }
}
