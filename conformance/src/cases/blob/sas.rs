//! Shared access signatures of blobs: what they allow by version, and directories.

use crate::sas::BlobSas;
use crate::{Failure, Outcome, Session, cases};

cases! {
    Authentication {
        who_may_create_a_blob_may_create_it_of_blocks,
        a_sas_of_a_directory_is_good_for_what_is_below,
        a_sas_of_a_directory_is_good_for_a_blob_of_its_name,
    }
}

async fn who_may_create_a_blob_may_create_it_of_blocks(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("old", "x").await?;
    for (version, status) in [("2026-04-06", 201), ("2026-02-06", 403)] {
        let sas = BlobSas { sv: version.into(), ..BlobSas::of_container(&container.name, "c") }.query(at.target());
        let name = format!("new{status}");
        let block = |name: &str| Ok::<_, Failure>(container.put_block(name, "QQ==", "x")?.version(version).sas(&sas));
        let list = |name: &str| {
            Ok::<_, Failure>(container.put_list(name, "<Latest>QQ==</Latest>")?.version(version).sas(&sas))
        };
        block(&name)?.send().await?.expect(status)?;
        list(&name)?.send().await?.expect(status)?;
        block("old")?.send().await?.expect(403)?;
        list("old")?.send().await?.expect(403)?;
    }
    let sas = BlobSas { sv: "2026-04-06".into(), ..BlobSas::of_container(&container.name, "c") }.query(at.target());
    let again = container.put_list("new201", "")?.version("2026-04-06").sas(&sas).send().await?;
    again.expect_code(403, "UnauthorizedBlobOverwrite")?;
    Ok(())
}

async fn a_sas_of_a_directory_is_good_for_what_is_below(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a/b/c", "a/b/d/e", "a/x", "a/bc/c"] {
        container.seed(name, "x").await?;
    }
    let sas = |directory: &str, depth: &str| {
        let of_blob = BlobSas::of_blob(&container.name, directory, "r");
        BlobSas { sv: "2020-10-02".into(), directory_depth: depth.into(), ..of_blob }.query(at.target())
    };
    let below = sas("a/b", "2");
    for (name, status) in [("a/b/c", 200), ("a/b/d/e", 200), ("a/x", 403), ("a/bc/c", 403)] {
        container.blob("GET", name)?.version("2020-10-02").sas(&below).send().await?.expect(status)?;
    }
    let wrong = sas("a/b", "1");
    container.blob("GET", "a/b/c")?.version("2020-10-02").sas(&wrong).send().await?.expect(403)?;
    Ok(())
}

async fn a_sas_of_a_directory_is_good_for_a_blob_of_its_name(at: &Session) -> Outcome {
    let container = at.container().await?;
    let sas = |directory: &str, permissions: &str, depth: &str| {
        let of_blob = BlobSas::of_blob(&container.name, directory, permissions);
        BlobSas { sv: "2026-04-06".into(), directory_depth: depth.into(), ..of_blob }.query(at.target())
    };
    let all = sas("a/b", "racwd", "2");
    for name in ["a/b", "a/b/c"] {
        let create = container.create_append(name)?.version("2026-04-06").sas(&all);
        create.header("If-None-Match", "*").send().await?.expect(201)?;
    }
    // The name has more segments than the SAS is for, or fewer.
    container.blob("GET", "a/b")?.version("2026-04-06").sas(&sas("a/b", "r", "1")).send().await?.expect(403)?;
    container.blob("GET", "a/b")?.version("2026-04-06").sas(&sas("a/b", "r", "3")).send().await?.expect(403)?;
    let create = sas("new", "c", "1");
    container.put_block("new", "QQ==", "x")?.version("2026-04-06").sas(&create).send().await?.expect(201)?;
    let list = container.put_list("new", "<Latest>QQ==</Latest>")?.version("2026-04-06").sas(&create);
    list.send().await?.expect(201)?;
    Ok(())
}
