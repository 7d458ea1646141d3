//! Content that is encrypted with a customer's key.
//!
//! Encrypted content is a row of segments, each as long as a chunk of stored content, so that a range is read by reading the
//! chunks around it. The content of a page blob is encrypted page by page, so that layers are merged without the key.
//!
//! A segment, and an encrypted page, is a salt, the ciphertext and a tag. All segments of a content have the same salt, which
//! is random, and so have all pages of one write. The key of a salt is derived from the customer's key, and encrypts with
//! AES-256-GCM; the nonce is the place of the segment or of the page. So no nonce is used twice with a key, and a segment or
//! a page that was changed or moved is noticed.
//!
//! Nothing else knows about ciphertext: lengths, offsets and checksums in records are those of the content itself, and
//! [`stored_length`] converts them where content is stored, copied or deleted. The key is never stored; records have its
//! digest.
//!
//! | file | owns |
//! | --- | --- |
//! | `cipher.rs` | the cipher of one salt |
//! | `segment.rs` | the lengths of segments |
//! | `encryptor.rs` | content on its way in |
//! | `decryptor.rs` | content on its way out |
//! | `pages.rs` | pages, both ways |

mod cipher;
mod decryptor;
mod encryptor;
mod pages;
mod segment;

pub(super) use decryptor::Decryptor;
pub(super) use encryptor::Encryptor;
pub(super) use pages::{ENCRYPTED_PAGE_BYTES, PageDecryptor, PageEncryptor};
pub(super) use segment::stored_length;
