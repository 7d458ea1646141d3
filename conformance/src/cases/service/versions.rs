//! `x-ms-version`: which are served, which are echoed, what older ones lack.

use serde_json::json;

use crate::expect::equal;
use crate::sas::AccountSas;
use crate::{Outcome, Session, cases};

cases! {
    QueryTables {
        every_published_version_with_json_is_served_and_echoed,
        a_later_version_than_any_published_is_served,
        a_malformed_version_is_refused,
        an_absent_version_is_served,
        json_before_2013_is_not_supported,
        the_version_of_a_sas_stands_in_for_the_header,
        the_version_header_goes_before_the_sas_version,
        api_version_goes_before_the_version_header,
    }
    InsertOrReplaceEntity {
        upsert_before_2011_is_refused,
    }
}

const VERSIONS_WITH_JSON: &[&str] = &[
    "2013-08-15",
    "2014-02-14",
    "2015-02-21",
    "2015-04-05",
    "2015-07-08",
    "2015-12-11",
    "2016-05-31",
    "2017-04-17",
    "2017-07-29",
    "2017-11-09",
    "2018-03-28",
    "2018-11-09",
    "2019-02-02",
    "2019-07-07",
    "2019-10-10",
    "2019-12-12",
    "2020-02-10",
    "2020-04-08",
    "2020-06-12",
    "2020-08-04",
    "2020-10-02",
    "2020-12-06",
    "2021-02-12",
    "2021-04-10",
    "2021-06-08",
    "2021-08-06",
    "2021-10-04",
    "2021-12-02",
    "2022-11-02",
    "2023-01-03",
    "2023-08-03",
    "2023-11-03",
    "2024-02-04",
    "2024-05-04",
    "2024-08-04",
    "2024-11-04",
    "2025-01-05",
    "2025-05-05",
    "2025-07-05",
    "2025-11-05",
    "2026-02-06",
    "2026-04-06",
    "2026-06-06",
];

async fn every_published_version_with_json_is_served_and_echoed(at: &Session) -> Outcome {
    for version in VERSIONS_WITH_JSON {
        let response = at.get("/Tables").query("$top", "1").version(version).send().await?;
        response.expect(200)?.expect_header("x-ms-version", version)?;
    }
    Ok(())
}

/// Refusing it would be Azure's way; a server that outlives its build cannot know which dates came later.
async fn a_later_version_than_any_published_is_served(at: &Session) -> Outcome {
    let response = at.get("/Tables").query("$top", "1").version("2031-03-04").send().await?;
    response.expect(200)?.expect_header("x-ms-version", "2031-03-04")?;
    Ok(())
}

async fn a_malformed_version_is_refused(at: &Session) -> Outcome {
    let message = "The value for one of the HTTP headers is not in the correct format.";
    for version in ["latest", "2019-02", "20190202"] {
        let response = at.get("/Tables").version(version).send().await?;
        response.expect_error(400, "InvalidHeaderValue", message)?;
    }
    Ok(())
}

async fn an_absent_version_is_served(at: &Session) -> Outcome {
    at.get("/Tables").query("$top", "1").without("x-ms-version").send().await?.expect(200)?;
    Ok(())
}

async fn json_before_2013_is_not_supported(at: &Session) -> Outcome {
    let response = at.get("/Tables").version("2012-02-12").without("MaxDataServiceVersion").send().await?;
    response.expect_error(415, "JsonFormatNotSupported", "JSON format is not supported.")?;
    Ok(())
}

async fn the_version_of_a_sas_stands_in_for_the_header(at: &Session) -> Outcome {
    let sas = AccountSas { sv: "2018-03-28".into(), ..AccountSas::new("c", "l") };
    let request = at.get("/Tables").query("$top", "1").without("x-ms-version").sas(&sas.query(at.target()));
    request.send().await?.expect(200)?.expect_header("x-ms-version", "2018-03-28")?;
    Ok(())
}

async fn the_version_header_goes_before_the_sas_version(at: &Session) -> Outcome {
    let sas = AccountSas { sv: "2018-03-28".into(), ..AccountSas::new("c", "l") };
    let request = at.get("/Tables").query("$top", "1").version("2018-11-09").sas(&sas.query(at.target()));
    request.send().await?.expect(200)?.expect_header("x-ms-version", "2018-11-09")?;
    Ok(())
}

async fn api_version_goes_before_the_version_header(at: &Session) -> Outcome {
    let sas = AccountSas { sv: "2018-03-28".into(), ..AccountSas::new("c", "l") };
    let request = at.get("/Tables").raw_query("api-version=2017-11-09").version("2018-11-09").query("$top", "1");
    let response = request.sas(&sas.query(at.target())).send().await?;
    response.expect(200)?.expect_header("x-ms-version", "2017-11-09")?;
    Ok(())
}

async fn upsert_before_2011_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.put("p", "r", json!({ "A": 1 })).version("2009-09-19").send().await?;
    response.expect_refusal()?;
    equal("rows written", table.query().send().await?.items()?.len(), 0)
}
