//! The bodies that are not entities: XML of queues and blobs, batches of blobs, and the responses that a client reads.
//!
//! Input: a byte that chooses the document, and the document. A batch has its content type and a line feed in front.

mod answers;
mod batches;
mod documents;

use tablerock_protocol::Service;
use tablerock_protocol::signing::{BlobPermissions, QueuePermissions};

pub fn check(data: &[u8]) {
    let Some((kind, document)) = data.split_first() else { return };
    match kind % 16 {
        0 => documents::check_message_text(document),
        1 => documents::check_policies(document, QueuePermissions::LETTERS),
        2 => documents::check_policies(document, BlobPermissions::LETTERS),
        3 => documents::check_block_list(document),
        4 => documents::check_tags(document),
        5 => documents::check_properties(document, Service::Queue),
        6 => documents::check_properties(document, Service::Blob),
        7 => documents::check_properties(document, Service::Table),
        8 => answers::check_stats(document),
        9 => answers::check_messages(document),
        10 => answers::check_containers(document),
        11 => answers::check_blobs(document),
        12 => answers::check_error(document),
        13 => answers::check_json(document),
        14 => batches::check_blob_batch(document),
        _ => batches::check_changeset_answer(document),
    }
}
