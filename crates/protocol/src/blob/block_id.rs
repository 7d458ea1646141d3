//! Ids of blocks: bytes that a client chose, in base64 on the wire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{ErrorCode, ServiceError};

/// Before base64.
pub const BLOCK_ID_BYTES_MAX: usize = 64;

/// The bytes of a block's id. All ids of one blob have the same length.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(Vec<u8>);

impl BlockId {
    /// Reads an id as the parameter `blockid` and block lists have it.
    pub fn parse(text: &str) -> Result<Self, ServiceError> {
        let bytes = STANDARD.decode(text.trim()).map_err(|_| ErrorCode::InvalidQueryParameterValue)?;
        if bytes.is_empty() || bytes.len() > BLOCK_ID_BYTES_MAX {
            return Err(ErrorCode::OutOfRangeQueryParameterValue.into());
        }
        Ok(Self(bytes))
    }

    /// Returns the id with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Returns the bytes of the id.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the id as the wire has it.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_base64_of_up_to_64_bytes() {
        assert_eq!(BlockId::parse("MDAx").unwrap().to_base64(), "MDAx");
        assert_eq!(BlockId::parse("#").unwrap_err().code, ErrorCode::InvalidQueryParameterValue);
        assert!(BlockId::parse(&STANDARD.encode([0; 64])).is_ok());
        assert!(BlockId::parse(&STANDARD.encode([0; 65])).is_err());
        assert!(BlockId::parse("").is_err());
    }
}
