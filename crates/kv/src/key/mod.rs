//! Keys whose bytes sort as the things they stand for.
//!
//! A layer writes its keys piece by piece with [`KeyBuilder`] and reads them back with [`KeyReader`]. Every piece
//! but the last delimits itself, so pieces follow one another without separators, and comparing two keys of one
//! layout bytewise compares their pieces in turn.
//!
//! | piece | bytes | order |
//! | --- | --- | --- |
//! | [tag](KeyBuilder::tag) | one byte | by number |
//! | [number](KeyBuilder::number) | 1 to 9, see [`number`](self) below | by number |
//! | [bytes](KeyBuilder::bytes) | as they are, `00` as `00 ff`, then `00 01` | bytewise, shorter first |
//! | [text](KeyBuilder::text) | UTF-8 with two lead bytes moved, then as bytes | by UTF-16 code unit |
//! | [tail](KeyBuilder::tail) | as they are, to the end | bytewise |
//!
//! Numbers below 248 are one byte. Greater ones are a byte `f7 + n` and then n bytes, the most significant first
//! and not zero.
//!
//! [`physical`] is the one byte string an ordered engine stores for a record: the partition as a bytes piece,
//! the key as the tail.

mod builder;
mod escape;
mod number;
pub mod physical;
mod reader;
mod text;

pub use builder::KeyBuilder;
pub use reader::KeyReader;
pub use text::{key_bytes_to_text, text_to_key_bytes};
