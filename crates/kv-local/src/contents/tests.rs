//! Contents in files: they read back as written, exist whole or not at all, and damage is an error.

use std::fs;

use tablerock_kv::{Bytes, ErrorKind};
use tempfile::TempDir;

use super::frame::{FRAME_BYTES, frame_start};
use super::*;
use crate::format::Identity;
use crate::store_id::StoreId;

const NAME: ContentName = ContentName { group: 7, number: 9 };

fn contents() -> (TempDir, ContentFiles) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("contents");
    fs::create_dir(&root).unwrap();
    let identity = Identity { id: StoreId::random(), has_older_contents: false };
    (folder, ContentFiles::new(root, FrameSeeds::of(identity)))
}

fn random(bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    fastrand::Rng::with_seed(bytes as u64).fill(&mut content);
    content
}

async fn write(files: &ContentFiles, name: ContentName, content: &[u8], piece: usize) {
    let mut writer = files.create(name);
    for bytes in content.chunks(piece) {
        writer.write(Bytes::copy_from_slice(bytes)).await.unwrap();
    }
    writer.finish().await.unwrap();
}

async fn read_from(reader: &dyn ContentReader, mut offset: u64) -> Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let bytes = reader.read(offset, usize::MAX).await?;
        if bytes.is_empty() {
            return Ok(whole);
        }
        offset += bytes.len() as u64;
        whole.extend_from_slice(&bytes);
    }
}

#[tokio::test]
async fn what_was_written_is_read_from_any_place() {
    let (_folder, files) = contents();
    let mut numbers = 0..;
    for bytes in [0, 1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES + 5] {
        let content = random(bytes);
        for piece in [1000, FRAME_BYTES, FRAME_BYTES + 3, usize::MAX] {
            let name = ContentName { group: 1, number: numbers.next().unwrap() };
            write(&files, name, &content, piece).await;
            let reader = files.open(name).await.unwrap().unwrap();
            for start in [0, 1, bytes / 2, bytes.saturating_sub(1), bytes] {
                assert_eq!(read_from(&*reader, start as u64).await.unwrap(), content[start.min(bytes)..]);
            }
            assert!(reader.read(bytes as u64 + 1, 10).await.unwrap().is_empty());
            assert_eq!(reader.read(0, 10).await.unwrap(), content[..bytes.min(10)]);
        }
    }
}

#[tokio::test]
async fn an_open_content_outlives_its_removal() {
    let (folder, files) = contents();
    let content = random(FRAME_BYTES * 2);
    write(&files, NAME, &content, FRAME_BYTES).await;
    let reader = files.open(NAME).await.unwrap().unwrap();
    assert_eq!(files.remove(NAME.group, 8..=10).await.unwrap(), 1);
    assert_eq!(files.remove(NAME.group, 8..=10).await.unwrap(), 0);
    assert!(files.open(NAME).await.unwrap().is_none());
    assert_eq!(read_from(&*reader, 0).await.unwrap(), content);
    assert_eq!(fs::read_dir(folder.path().join("contents")).unwrap().count(), 0, "its folder goes with the last");
}

#[tokio::test]
async fn a_group_goes_at_once() {
    let (_folder, files) = contents();
    let other = ContentName { group: 8, number: 9 };
    for name in [NAME, ContentName { number: 10, ..NAME }, other] {
        write(&files, name, b"x", 1).await;
    }
    files.remove_group(NAME.group).await.unwrap();
    files.remove_group(NAME.group).await.unwrap();
    assert!(files.open(NAME).await.unwrap().is_none());
    assert!(files.open(other).await.unwrap().is_some());
}

#[tokio::test]
async fn a_content_that_is_not_finished_leaves_nothing() {
    let (folder, files) = contents();
    let mut writer = files.create(NAME);
    writer.write(Bytes::from(random(FRAME_BYTES))).await.unwrap();
    let path = files.path(NAME);
    while !path.exists() {
        tokio::task::yield_now().await;
    }
    drop(writer);
    for _ in 0..500 {
        if !path.exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(!path.exists(), "{:?}", folder.path());
}

#[tokio::test]
async fn writers_that_wait_for_their_clients_hold_up_nobody() {
    let (_folder, files) = contents();
    let mut waiting = Vec::new();
    // More than the threads that Tokio has for what may block.
    for number in 0..600 {
        let mut writer = files.create(ContentName { group: 1, number });
        writer.write(Bytes::from_static(b"x")).await.unwrap();
        waiting.push(writer);
    }
    let served = async {
        write(&files, NAME, b"content", 3).await;
        let reader = files.open(NAME).await.unwrap().unwrap();
        read_from(&*reader, 0).await.unwrap()
    };
    let content = tokio::time::timeout(std::time::Duration::from_secs(60), served).await;
    assert_eq!(content.expect("it does not wait for them"), b"content");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_told() {
    let (folder, files) = contents();
    fs::write(folder.path().join(format!("contents/{:016x}", NAME.group)), "in the way").unwrap();
    let mut writer = files.create(NAME);
    let _ = writer.write(Bytes::from_static(b"x")).await;
    assert_eq!(writer.finish().await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn damage_is_told_and_never_read() {
    let (_folder, files) = contents();
    write(&files, NAME, &random(2 * FRAME_BYTES), FRAME_BYTES).await;
    let path = files.path(NAME);
    let whole = fs::read(&path).unwrap();
    let second = frame_start(1) as usize;
    for place in [0, FRAME_BYTES, second, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[place] ^= 0x40;
        fs::write(&path, flipped).unwrap();
        let reader = files.open(NAME).await.unwrap().unwrap();
        assert_eq!(read_from(&*reader, 0).await.unwrap_err().kind(), ErrorKind::Corrupt, "at {place}");
    }
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let reader = files.open(NAME).await.unwrap().unwrap();
    assert_eq!(read_from(&*reader, 0).await.unwrap_err().kind(), ErrorKind::Corrupt, "cut");
}

/// The layers remove the file of a write that failed, which must not be the one that was in the way.
#[tokio::test]
async fn a_file_in_the_way_is_neither_overwritten_nor_removed() {
    let (_folder, files) = contents();
    write(&files, NAME, b"old", 3).await;
    for _ in 0..2 {
        let mut writer = files.create(NAME);
        let error = writer.write(Bytes::from_static(b"new")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.message().contains("exists already"), "{error}");
        drop(writer);
        files.remove(NAME.group, NAME.number..=NAME.number).await.unwrap();
        // Dropped before it knows that there is a file.
        drop(files.create(NAME));
        let reader = files.open(NAME).await.unwrap().unwrap();
        assert_eq!(read_from(&*reader, 0).await.unwrap(), b"old");
    }
}

/// The folder of a group goes with its last content, and must not go under a writer that is about to create another.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_folder_does_not_vanish_under_a_writer() {
    let (folder, files) = contents();
    let files = Arc::new(files);
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let files = Arc::clone(&files);
        tasks.spawn(async move {
            for round in 0..100 {
                let number = task * 1000 + round;
                let mut writer = files.create(ContentName { group: 7, number });
                writer.write(Bytes::from_static(b"content")).await?;
                writer.finish().await?;
                assert_eq!(files.remove(7, number..=number).await?, 1);
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(outcome) = tasks.join_next().await {
        outcome.unwrap().unwrap();
    }
    assert_eq!(fs::read_dir(folder.path().join("contents")).unwrap().count(), 0, "the last one takes it along");
}
