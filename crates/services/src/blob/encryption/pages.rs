//! Pages that are encrypted one by one.

use std::sync::Arc;

use bytes::BytesMut;
use tablerock_kv::{Bytes, Result};
use tablerock_protocol::blob::CustomerKey;

use super::cipher::{OVERHEAD_BYTES, PartCipher, Purpose, apart, damaged};
use crate::blob::page::PAGE_BYTES;

const PAGE: usize = PAGE_BYTES as usize;

/// The bytes that are stored for a page.
pub(in crate::blob) const ENCRYPTED_PAGE_BYTES: usize = PAGE + OVERHEAD_BYTES;

/// Encrypts pages. Each of them comes once: all have one salt.
#[derive(Debug)]
pub(in crate::blob) struct PageEncryptor {
    cipher: Arc<PartCipher>,
}

impl PageEncryptor {
    pub(in crate::blob) fn new(key: &CustomerKey) -> Result<Self> {
        Ok(Self { cipher: Arc::new(PartCipher::fresh(Purpose::Pages, key)?) })
    }

    /// Encrypts pages that are behind each other, given by their places in the blob.
    pub(in crate::blob) async fn encrypt(&self, places: Vec<u64>, plain: Bytes) -> Result<Bytes> {
        let cipher = self.cipher.clone();
        let work = move || {
            let mut out = BytesMut::with_capacity(places.len() * ENCRYPTED_PAGE_BYTES);
            for (place, page) in places.iter().zip(plain.chunks_exact(PAGE)) {
                cipher.encrypt(*place, page, &mut out)?;
            }
            Ok(out.freeze())
        };
        apart(work).await?
    }
}

/// Decrypts pages that were encrypted with one key.
#[derive(Debug)]
pub(in crate::blob) struct PageDecryptor {
    key: CustomerKey,
    /// That of the last page.
    cipher: Option<PartCipher>,
}

impl PageDecryptor {
    pub(in crate::blob) fn new(key: &CustomerKey) -> Self {
        Self { key: key.clone(), cipher: None }
    }

    /// Decrypts groups of pages that are behind each other, given by their places in the blob.
    pub(in crate::blob) async fn decrypt(&mut self, groups: Vec<(Vec<u64>, Bytes)>) -> Result<Vec<Bytes>> {
        let (key, mut cipher) = (self.key.clone(), self.cipher.take());
        let work = move || {
            let plain = groups.iter().map(|(places, stored)| decrypt_group(&key, &mut cipher, places, stored));
            let plain = plain.collect::<Result<Vec<Bytes>>>();
            (cipher, plain)
        };
        let (cipher, plain) = apart(work).await?;
        self.cipher = cipher;
        plain
    }
}

fn decrypt_group(key: &CustomerKey, last: &mut Option<PartCipher>, places: &[u64], stored: &[u8]) -> Result<Bytes> {
    if stored.len() != places.len() * ENCRYPTED_PAGE_BYTES {
        return Err(damaged());
    }
    let mut plain = BytesMut::with_capacity(places.len() * PAGE);
    for (place, page) in places.iter().zip(stored.chunks_exact(ENCRYPTED_PAGE_BYTES)) {
        let cipher = PartCipher::of_part(Purpose::Pages, key, page, last.take())?;
        last.insert(cipher).decrypt(*place, page, &mut plain)?;
    }
    Ok(plain.freeze())
}
