//! A self-signed X.509 certificate of version 1, which has neither a version field nor extensions.
//!
//! No library of ours makes one, so its few fields are written in DER here.

use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};

/// The object identifier of ECDSA with SHA-256, as an algorithm.
const ECDSA_WITH_SHA256: [u8; 12] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// The object identifier of a common name.
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];

const BIT_STRING: u8 = 0x03;
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;

/// Returns the certificate of this key as PEM.
pub(crate) fn pem(key: &KeyPair) -> String {
    let common_name = [&COMMON_NAME[..], &field(UTF8_STRING, b"citus-auto-ssl")].concat();
    let name = field(SEQUENCE, &field(SET, &field(SEQUENCE, &common_name)));
    let validity = [field(UTC_TIME, b"200101000000Z"), field(UTC_TIME, b"491231235959Z")].concat();
    let serial = [0x02, 0x01, 0x07];
    let signed =
        [&serial[..], &ECDSA_WITH_SHA256, &name, &field(SEQUENCE, &validity), &name, &key.subject_public_key_info()];
    let signed = field(SEQUENCE, &signed.concat());
    let signature = key.sign(&signed).expect("the key signs");
    let signature = field(BIT_STRING, &[&[0][..], &signature].concat());
    let whole = field(SEQUENCE, &[&signed[..], &ECDSA_WITH_SHA256, &signature].concat());
    format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", base64_lines(&whole))
}

/// Returns a tagged value with its length.
fn field(tag: u8, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len()).expect("certificates are short");
    let mut bytes = vec![tag, 0x82];
    bytes.extend(length.to_be_bytes());
    match length {
        0..0x80 => bytes = vec![tag, length as u8],
        0x80..0x100 => bytes = vec![tag, 0x81, length as u8],
        _ => {}
    }
    bytes.extend(value);
    bytes
}

fn base64_lines(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        (0..4).map(move |at| match at <= chunk.len() {
            true => char::from(DIGITS[(word >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        })
    });
    let digits: Vec<char> = digits.collect();
    digits.chunks(64).map(|line| line.iter().collect::<String>() + "\n").collect()
}
