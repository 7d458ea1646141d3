//! Tiers of block blobs.

use crate::{Outcome, Session, cases, clock};

cases! {
    DeleteBlob {
        a_deletion_may_depend_on_the_time_of_the_tier,
    }
}

async fn a_deletion_may_depend_on_the_time_of_the_tier(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.put("set", "x")?.header("x-ms-access-tier", "Cool").send().await?.expect(201)?;
    let past = clock::rfc1123(clock::now() - clock::minutes(60));
    let future = clock::rfc1123(clock::now() + clock::minutes(60));
    let (modified, unmodified) = ("x-ms-access-tier-if-modified-since", "x-ms-access-tier-if-unmodified-since");
    for blob in ["b", "set"] {
        for (header, date) in [(modified, &future), (unmodified, &past)] {
            let delete = container.blob("DELETE", blob)?.header(header, date).send().await?;
            delete.expect_code(412, "AccessTierChangeTimeConditionNotMet")?;
        }
        let delete = container.blob("DELETE", blob)?.header(modified, &past).header(unmodified, &future);
        delete.send().await?.expect(202)?;
    }
    container.seed("b", "x").await?;
    let delete = container.blob("DELETE", "b")?.header(modified, "yesterday").send().await?;
    delete.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}
