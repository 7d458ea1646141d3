//! Checksums of writes: MD5 and CRC64, alone and together.

use crate::{Outcome, Session, cases};

cases! {
    PutBlob {
        a_crc64_of_another_length_does_not_match,
        newer_versions_have_both_checksums,
    }
    GetBlob {
        newer_versions_show_the_tier_of_what_they_read,
    }
}

const HELLO_MD5: &str = "XUFAKrxLKna5cZ2REBfFkg==";
const HELLO_CRC64: &str = "V0JSBnCFdzM=";
const BOTH: &str = "2026-10-06";

async fn a_crc64_of_another_length_does_not_match(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = |crc64: &str| {
        let put = container.put("b", "hello")?.version("2019-12-12");
        Ok::<_, crate::Failure>(put.header("x-ms-content-crc64", crc64))
    };
    put("AAAA")?.send().await?.expect_code(400, "Crc64Mismatch")?;
    put("!")?.send().await?.expect_code(400, "InvalidHeaderValue")?;
    put(HELLO_CRC64)?.send().await?.expect(201)?;
    Ok(())
}

async fn newer_versions_have_both_checksums(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let requests = || {
        let block = container.put_block("blocks", "QQ==", "hello")?;
        Ok::<_, crate::Failure>([container.put("b", "hello")?, block, container.append("log", "hello")?])
    };
    for request in requests()? {
        let put = request.version(BOTH).header("Content-MD5", HELLO_MD5).send().await?;
        put.expect(201)?.expect_header("Content-MD5", HELLO_MD5)?.expect_header("x-ms-content-crc64", HELLO_CRC64)?;
    }
    for request in requests()? {
        let put = request.version(BOTH).header("Content-MD5", HELLO_MD5).header("x-ms-content-crc64", HELLO_CRC64);
        put.send().await?.expect(201)?;
    }
    for request in requests()? {
        let put = request.version("2026-06-06").header("Content-MD5", HELLO_MD5).send().await?;
        put.expect(201)?.expect_no_header("x-ms-content-crc64")?;
    }
    Ok(())
}

async fn newer_versions_show_the_tier_of_what_they_read(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "hello").await?;
    container.put("cool", "hello")?.header("x-ms-access-tier", "Cool").send().await?.expect(201)?;
    let read = container.blob("GET", "b")?.version(BOTH).send().await?;
    read.expect(200)?.expect_header("x-ms-access-tier", "Hot")?.expect_header("x-ms-access-tier-inferred", "true")?;
    let read = container.blob("GET", "cool")?.version(BOTH).send().await?;
    read.expect(200)?.expect_header("x-ms-access-tier", "Cool")?;
    container
        .blob("GET", "b")?
        .version("2026-06-06")
        .send()
        .await?
        .expect(200)?
        .expect_no_header("x-ms-access-tier")?;
    Ok(())
}
