//! Names that have uncommitted blocks and no blob yet, and other names.

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    DeleteBlob {
        uncommitted_blocks_are_deleted_like_a_blob,
    }
    PutBlob {
        a_backslash_in_a_name_is_a_slash,
    }
}

async fn uncommitted_blocks_are_deleted_like_a_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "QQ==", "x")?.send().await?.expect(201)?;
    container.blob("DELETE", "b")?.send().await?.expect(202)?;
    container.blob("DELETE", "b")?.send().await?.expect_code(404, "BlobNotFound")?;
    let list = container.blob_on("GET", "b", "blocklist")?.query("blocklisttype", "all").send().await?;
    list.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_backslash_in_a_name_is_a_slash(at: &Session) -> Outcome {
    let container = at.container().await?;
    let path = format!("/{}/dir%5Csub%5cb", container.name);
    let put = at.to_blobs("PUT", path.clone())?.header("x-ms-blob-type", "BlockBlob").body("x");
    put.send().await?.expect(201)?;
    equal("names", container.names("").await?, vec!["dir/sub/b".to_owned()])?;
    equal("content", container.content("dir/sub/b").await?, "x".to_owned())?;
    at.to_blobs("GET", path)?.send().await?.expect(200)?;
    Ok(())
}
