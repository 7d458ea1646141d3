//! MD5 and CRC-64/NVME of content: what a client gave, what came in, and whether they agree.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Digest as _;

use super::ContentMd5;
use crate::{ErrorCode, ServiceError};

/// The MD5 of some content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Md5(pub [u8; 16]);

/// The CRC-64/NVME of some content, in the order of bytes that headers have: the least significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc64(pub [u8; 8]);

impl Md5 {
    /// Computes the MD5 of the content.
    pub fn of(content: &[u8]) -> Self {
        Self(md5::Md5::digest(content).into())
    }

    /// Parses the header, which has Base64.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        let bytes = STANDARD.decode(header.trim()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| ErrorCode::InvalidMd5.into())
    }

    /// Returns the checksum as Base64.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }
}

impl Crc64 {
    /// Computes the CRC-64 of the content.
    pub fn of(content: &[u8]) -> Self {
        let mut digest = crc64fast_nvme::Digest::new();
        digest.write(content);
        Self(digest.sum64().to_le_bytes())
    }

    /// Parses the header, which has Base64.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        let bytes = STANDARD.decode(header.trim()).map_err(|_| ErrorCode::InvalidHeaderValue)?;
        // No content has a checksum of another length.
        bytes.try_into().map(Self).map_err(|_| ErrorCode::Crc64Mismatch.into())
    }

    /// Returns the checksum as Base64.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }
}

/// The checksums of content that comes in pieces. An MD5 takes ten times as long as the other, so it is computed only
/// where it is requested.
#[derive(Clone)]
pub struct Checksums {
    md5: Option<md5::Md5>,
    crc64: crc64fast_nvme::Digest,
}

/// The checksums of some content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digests {
    /// The MD5, if it was requested.
    pub md5: Option<Md5>,
    /// The CRC-64.
    pub crc64: Crc64,
}

impl Checksums {
    /// Returns a digester without content, which computes the MD5 only on request.
    pub fn new(with_md5: bool) -> Self {
        Self { md5: with_md5.then(md5::Md5::new), crc64: crc64fast_nvme::Digest::new() }
    }

    /// Adds the next bytes of the content.
    pub fn update(&mut self, piece: &[u8]) {
        if let Some(md5) = &mut self.md5 {
            md5.update(piece);
        }
        self.crc64.write(piece);
    }

    /// Returns the checksums.
    pub fn finish(self) -> Digests {
        let md5 = self.md5.map(|md5| Md5(md5.finalize().into()));
        Digests { md5, crc64: Crc64(self.crc64.sum64().to_le_bytes()) }
    }
}

impl std::fmt::Debug for Checksums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checksums")
    }
}

impl Digests {
    /// Computes the checksums of the content.
    pub fn of(content: &[u8], with_md5: bool) -> Self {
        Self { md5: with_md5.then(|| Md5::of(content)), crc64: Crc64::of(content) }
    }

    /// Compares with what the client gave.
    pub fn check(&self, md5: Option<Md5>, crc64: Option<Crc64>) -> Result<(), ServiceError> {
        self.check_stated(md5.map(ContentMd5::from).as_ref())?;
        if crc64.is_some_and(|given| given != self.crc64) {
            return Err(ErrorCode::Crc64Mismatch.into());
        }
        Ok(())
    }

    /// Compares with the MD5 that the client states as a property of the content.
    pub fn check_stated(&self, md5: Option<&ContentMd5>) -> Result<(), ServiceError> {
        let computed = self.md5.map(ContentMd5::from);
        let Some(given) = md5.filter(|given| computed.as_ref() != Some(given)) else { return Ok(()) };
        let computed = computed.as_ref().map(ContentMd5::to_base64).unwrap_or_default();
        let error = ServiceError::new(ErrorCode::Md5Mismatch).detail("UserSpecifiedMd5", given.to_base64());
        Err(error.detail("ServerCalculatedMd5", computed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_that_everybody_computes() {
        assert_eq!(Crc64::of(b"123456789").to_base64(), "iJh5CoYUi64=");
        assert_eq!(Md5::of(b"").to_base64(), "1B2M2Y8AsgTpgAmY7PhCfg==");
        let mut pieces = Checksums::new(true);
        pieces.update(b"1234");
        pieces.update(b"56789");
        assert_eq!(pieces.finish(), Digests::of(b"123456789", true));
    }

    #[test]
    fn what_is_no_checksum_is_refused() {
        assert_eq!(Md5::parse("iJh5CoYUi64=").unwrap_err().code, ErrorCode::InvalidMd5);
        assert_eq!(Md5::parse("!").unwrap_err().code, ErrorCode::InvalidMd5);
        assert_eq!(Crc64::parse("!").unwrap_err().code, ErrorCode::InvalidHeaderValue);
        assert_eq!(Crc64::parse("AAAA").unwrap_err().code, ErrorCode::Crc64Mismatch);
        let digests = Digests::of(b"a", true);
        assert_eq!(digests.check(Some(Md5::of(b"b")), None).unwrap_err().code, ErrorCode::Md5Mismatch);
        assert_eq!(digests.check(None, Some(Crc64::of(b"b"))).unwrap_err().code, ErrorCode::Crc64Mismatch);
        assert_eq!(digests.check(Some(Md5::of(b"a")), Some(Crc64::of(b"a"))), Ok(()));
    }
}
