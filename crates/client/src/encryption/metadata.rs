//! `_ClientEncryptionMetadata1`: the wrapped content key, its key and the entity's vector as JSON. The members have a
//! fixed order, which the library for Java relies on.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cipher::{Flavour, IV_BYTES};
use super::error::{EncryptionError, damaged};
use super::key::KeyWrapper;

const PROTOCOL: &str = "1.0";
const ALGORITHM: &str = "AES_CBC_256";
const LIBRARY: &str = concat!("Tablerock ", env!("CARGO_PKG_VERSION"));
const LIBRARY_MEMBER: &str = "EncryptionLibrary";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct EncryptionData {
    pub(super) wrapped_content_key: WrappedContentKey,
    encryption_agent: EncryptionAgent,
    #[serde(rename = "ContentEncryptionIV")]
    content_encryption_iv: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_wrapping_metadata: Option<BTreeMap<String, Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct WrappedContentKey {
    pub(super) key_id: String,
    encrypted_key: String,
    pub(super) algorithm: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EncryptionAgent {
    protocol: String,
    /// A name, or a number in entities of early .NET versions.
    encryption_algorithm: Value,
}

impl WrappedContentKey {
    pub(super) fn new(key: &dyn KeyWrapper, wrapped: &[u8]) -> Self {
        Self {
            key_id: key.id().to_owned(),
            encrypted_key: STANDARD.encode(wrapped),
            algorithm: key.algorithm().to_owned(),
        }
    }

    pub(super) fn encrypted_key(&self) -> Result<Vec<u8>, EncryptionError> {
        STANDARD.decode(&self.encrypted_key).map_err(|_| damaged("the wrapped key is not Base64"))
    }
}

impl EncryptionData {
    pub(super) fn new(wrapped_content_key: WrappedContentKey, entity_iv: &[u8; IV_BYTES]) -> Self {
        let library = (LIBRARY_MEMBER.to_owned(), Value::from(LIBRARY));
        Self {
            wrapped_content_key,
            encryption_agent: EncryptionAgent {
                protocol: PROTOCOL.to_owned(),
                encryption_algorithm: Value::from(ALGORITHM),
            },
            content_encryption_iv: STANDARD.encode(entity_iv),
            key_wrapping_metadata: Some(BTreeMap::from([library])),
        }
    }

    /// Parses the text. Rejects other protocols and algorithms.
    pub(super) fn parse(text: &str) -> Result<Self, EncryptionError> {
        let data: Self =
            serde_json::from_str(text).map_err(|error| damaged(format!("its metadata is invalid: {error}")))?;
        let EncryptionAgent { protocol, encryption_algorithm } = &data.encryption_agent;
        if protocol != PROTOCOL {
            return Err(EncryptionError::Unsupported(format!("the encryption protocol {protocol:?}")));
        }
        if *encryption_algorithm != ALGORITHM && *encryption_algorithm != 0 {
            return Err(EncryptionError::Unsupported(format!("the encryption algorithm {encryption_algorithm}")));
        }
        Ok(data)
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("text and maps of text are JSON")
    }

    pub(super) fn entity_iv(&self) -> Result<[u8; IV_BYTES], EncryptionError> {
        let bytes = STANDARD.decode(&self.content_encryption_iv).ok();
        bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| damaged("its initialization vector is invalid"))
    }

    /// Returns the likely flavour. Early entities of .NET look like those of Java, so decryption may have to use the
    /// other one.
    pub(super) fn flavour(&self) -> Flavour {
        match &self.key_wrapping_metadata {
            None => Flavour::Java,
            Some(members) => match members.get(LIBRARY_MEMBER).and_then(Value::as_str) {
                Some(library) if library.contains("Java") => Flavour::Java,
                _ => Flavour::DotNet,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOT_NET: &str = r#"{"WrappedContentKey":{"KeyId":"k","EncryptedKey":"AAAA","Algorithm":"A256KW"},"EncryptionAgent":{"Protocol":"1.0","EncryptionAlgorithm":"AES_CBC_256"},"ContentEncryptionIV":"oKGio6SlpqeoqaqrrK2urw==","KeyWrappingMetadata":{"EncryptionLibrary":".NET 9.3.3"}}"#;

    #[test]
    fn what_is_read_is_written_the_same_in_the_order_that_java_wants() {
        assert_eq!(EncryptionData::parse(DOT_NET).unwrap().to_text(), DOT_NET);
    }

    #[test]
    fn the_library_tells_the_flavour() {
        for (library, flavour) in [
            (r#"{"EncryptionLibrary":".NET 9.3.3"}"#, Flavour::DotNet),
            (r#"{"EncryptionLibrary":"Python 1.0.6"}"#, Flavour::DotNet),
            (r#"{"EncryptionLibrary":"Java 8.6.6"}"#, Flavour::Java),
            ("null", Flavour::Java),
            ("{}", Flavour::DotNet),
        ] {
            let text = DOT_NET.replace(r#"{"EncryptionLibrary":".NET 9.3.3"}"#, library);
            assert_eq!(EncryptionData::parse(&text).unwrap().flavour(), flavour, "{library}");
        }
        let untold = DOT_NET.replace(r#","KeyWrappingMetadata":{"EncryptionLibrary":".NET 9.3.3"}"#, "");
        let untold_data = EncryptionData::parse(&untold).unwrap();
        assert_eq!((untold_data.flavour(), untold_data.to_text()), (Flavour::Java, untold));
    }

    #[test]
    fn other_protocols_and_algorithms_are_error() {
        let error = |from: &str, to: &str| EncryptionData::parse(&DOT_NET.replace(from, to)).unwrap_err();
        assert!(matches!(error("\"1.0\"", "\"2.0\""), EncryptionError::Unsupported(_)));
        assert!(matches!(error("AES_CBC_256", "AES_GCM_256"), EncryptionError::Unsupported(_)));
        assert!(matches!(error("WrappedContentKey", "Other"), EncryptionError::Damaged(_)));
        assert!(EncryptionData::parse(&DOT_NET.replace("\"AES_CBC_256\"", "0")).is_ok());
    }
}
