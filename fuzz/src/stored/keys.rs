//! Stored keys: the one string of a record, its pieces, and the text inside them.

use bytes::Bytes;
use tablerock_kv::key::{KeyBuilder, KeyReader, key_bytes_to_text, physical, text_to_key_bytes};
use tablerock_kv::{Error, ErrorKind};
use tablerock_services::namespace;
use tablerock_services::table::keys;

pub(super) fn check(stored: &Bytes) {
    match physical::decode(stored) {
        Err(error) => assert_corrupt(&error),
        Ok(position) => {
            let again = Bytes::from(physical::encode(&position.partition, &position.key));
            assert_eq!(physical::decode(&again).expect("just encoded"), position);
            assert_eq!(again, stored, "there is one string for each record");
            if let Err(error) = keys::partition_key_of(&position.partition) {
                assert_corrupt(&error);
            }
        }
    }
    match key_bytes_to_text(stored) {
        Err(error) => assert_corrupt(&error),
        Ok(text) => assert_eq!(&*text_to_key_bytes(&text), &stored[..], "there is one form of each text"),
    }
    if let Err(error) = namespace::id_of_tombstone(stored) {
        assert_corrupt(&error);
    }
    if let Err(error) = check_pieces(stored) {
        assert_corrupt(&error);
    }
}

/// A tag, a number, bytes and a text, whose builder gives the same key again.
fn check_pieces(stored: &[u8]) -> Result<(), Error> {
    let mut pieces = KeyReader::new(stored);
    let (tag, number) = (pieces.tag()?, pieces.number()?);
    let (bytes, text) = (pieces.bytes()?, pieces.text()?);
    let again = KeyBuilder::new().tag(tag).number(number).bytes(&bytes).text(&text).tail(pieces.tail());
    let mut read_again = KeyReader::new(&again);
    assert_eq!((read_again.tag()?, read_again.number()?), (tag, number));
    assert_eq!((read_again.bytes()?, read_again.text()?), (bytes, text));
    Ok(())
}

fn assert_corrupt(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
