//! Content that is encrypted with a customer's key.
//!
//! Encrypted content is a row of segments, each as long as a chunk of stored content, so that a range is read by reading the
//! chunks around it. A segment is a salt, the ciphertext and a tag. All segments of a content have the same salt, which is
//! random. The key of a content is derived from the customer's key and the salt, and encrypts with AES-256-GCM; the nonce is
//! the place of the segment. So no nonce is used twice with a key, and a segment that was changed or moved is noticed.
//!
//! Nothing else knows about ciphertext: lengths, offsets and checksums in records are those of the content itself, and
//! [`stored_length`] converts them where content is stored, copied or deleted. The key is never stored; records have its
//! digest.
//!
//! | file | owns |
//! | --- | --- |
//! | `segment.rs` | one segment, and its cipher |
//! | `sealer.rs` | content on its way in |
//! | `opener.rs` | content on its way out |

mod opener;
mod sealer;
mod segment;

pub(super) use opener::Opener;
pub(super) use sealer::Sealer;
pub(super) use segment::stored_length;
