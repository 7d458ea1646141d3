//! Shared Key and Shared Key Lite, in the forms the Table service uses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Base64 of the HMAC-SHA256 of a string to sign.
pub fn signature(key: &[u8], string_to_sign: &str) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(string_to_sign.as_bytes());
    BASE64.encode(mac.finalize().into_bytes())
}

/// The resource of a request: the account, the path exactly as sent, and of the query only `comp`.
pub fn canonical_resource(account: &str, raw_path: &str, comp: Option<&str>) -> String {
    match comp {
        Some(comp) => format!("/{account}{raw_path}?comp={comp}"),
        None => format!("/{account}{raw_path}"),
    }
}

/// The string that Shared Key signs for tables: no canonicalised headers, unlike blobs and queues.
pub fn shared_key_string(verb: &str, content_md5: &str, content_type: &str, date: &str, resource: &str) -> String {
    format!("{verb}\n{content_md5}\n{content_type}\n{date}\n{resource}")
}

/// The string that Shared Key Lite signs for tables.
pub fn shared_key_lite_string(date: &str, resource: &str) -> String {
    format!("{date}\n{resource}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    const DATE: &str = "Wed, 01 Jan 2025 00:00:00 GMT";

    fn development(string_to_sign: &str) -> String {
        signature(&Target::parse("UseDevelopmentStorage=true").unwrap().key, string_to_sign)
    }

    fn resource(path: &str, comp: Option<&str>) -> String {
        canonical_resource("devstoreaccount1", &format!("/devstoreaccount1{path}"), comp)
    }

    #[test]
    fn shared_key_matches_the_check_vectors() {
        let get = shared_key_string("GET", "", "", DATE, &resource("/Tables", None));
        assert_eq!(development(&get), "G8Vl8edRL3EpFJRT9yz1V5CVUXYttoz8vvrt0i/gf5k=");
        let post = shared_key_string("POST", "", "application/json;odata=nometadata", DATE, &resource("/Tables", None));
        assert_eq!(development(&post), "wzwnqfz3YDPrFp3Y1+sxjiPlP8V2Xn7y6BIMhDr4wnQ=");
    }

    #[test]
    fn shared_key_lite_matches_the_check_vectors() {
        let vectors = [
            (resource("/$batch", None), "MoxN0J1iCZih4Wy8KxETsbij33RAYJ8U4bM2Cy0y/r0="),
            (resource("/People", Some("acl")), "CS0YE/gGJM5Unh1Wb3OvKnGajR660I4pMVYADr3MUtk="),
            (resource("/", Some("properties")), "MGH1MIwX1ICtOrQz92+qx6wbCti0MxorrlqbpeA3dzw="),
        ];
        for (resource, expected) in vectors {
            assert_eq!(development(&shared_key_lite_string(DATE, &resource)), expected, "{resource}");
        }
    }
}
