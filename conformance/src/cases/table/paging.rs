//! `$top` and continuation: pages that end, tokens that resume.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;

use crate::batch::{self, Part};
use crate::encode::percent;
use crate::expect::{Failure, ensure, equal};
use crate::request::Request;
use crate::response::Response;
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        top_limits_the_page,
        top_of_1000_is_accepted,
        top_of_0_is_an_empty_list,
        top_out_of_range_is_refused,
        pages_join_to_the_whole_table,
        pages_cross_partitions,
        pages_of_a_filter_join_to_its_whole_result,
        tokens_have_the_form_of_the_service,
        tokens_name_the_next_entity,
        tokens_carry_any_key,
        a_page_ends_after_1000_entities,
        a_page_that_ends_the_table_has_no_token,
        a_partition_token_alone_resumes_at_the_partition,
        a_malformed_token_is_refused,
        an_entity_inserted_behind_the_token_is_not_seen,
    }
}

const PARTITION: &str = "x-ms-continuation-NextPartitionKey";
const ROW: &str = "x-ms-continuation-NextRowKey";

async fn numbered<'s>(at: &'s Session, partitions: &[&str], rows: usize) -> Outcome<Table<'s>> {
    let table = at.table().await?;
    for partition in partitions {
        for row in 0..rows {
            table.seed(json!({ "PartitionKey": partition, "RowKey": format!("{row:03}"), "N": row })).await?;
        }
    }
    Ok(table)
}

/// The same query again, where the last page ended.
fn resumed<'s>(request: Request<'s>, page: &Response) -> Option<Request<'s>> {
    let partition = page.header(PARTITION)?;
    let request = request.raw_query(&format!("NextPartitionKey={}", percent(partition)));
    Some(match page.header(ROW) {
        Some(row) => request.raw_query(&format!("NextRowKey={}", percent(row))),
        None => request,
    })
}

/// `partition/row` of everything a query finds, page by page.
async fn walk(query: Request<'_>) -> Outcome<(Vec<String>, usize)> {
    let (mut found, mut pages, mut next) = (Vec::new(), 0, Some(query.clone()));
    while let Some(request) = next {
        let page = request.send().await?;
        for (partition, row) in page.column("PartitionKey")?.iter().zip(page.column("RowKey")?) {
            found.push(format!("{partition}/{row}"));
        }
        pages += 1;
        ensure(pages < 100, || "the pages do not end".to_owned())?;
        next = resumed(query.clone(), &page);
    }
    Ok((found, pages))
}

async fn top_limits_the_page(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 5).await?;
    let response = table.query().query("$top", "2").send().await?;
    equal("rows", response.column("RowKey")?, ["000", "001"])?;
    ensure(response.header(PARTITION).is_some(), || "no continuation although more rows follow".to_owned())
}

async fn top_of_1000_is_accepted(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 2).await?;
    equal("rows", table.query().query("$top", "1000").send().await?.items()?.len(), 2)
}

async fn top_of_0_is_an_empty_list(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 2).await?;
    equal("rows", table.query().query("$top", "0").send().await?.items()?.len(), 0)
}

async fn top_out_of_range_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for top in ["-1", "1001", "1.5", "many"] {
        let response = table.query().query("$top", top).send().await?;
        response.expect_error(400, "InvalidInput", "One of the request inputs is not valid.")?;
    }
    Ok(())
}

async fn pages_join_to_the_whole_table(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 10).await?;
    let (found, pages) = walk(table.query().query("$top", "3")).await?;
    equal("entities", found, (0..10).map(|row| format!("p/{row:03}")).collect::<Vec<_>>())?;
    ensure(pages >= 4, || format!("10 entities came in {pages} pages of 3"))
}

async fn pages_cross_partitions(at: &Session) -> Outcome {
    let table = numbered(at, &["a", "b", "c"], 3).await?;
    let (found, _) = walk(table.query().query("$top", "2")).await?;
    let expected: Vec<String> =
        ["a", "b", "c"].iter().flat_map(|p| (0..3).map(move |r| format!("{p}/{r:03}"))).collect();
    equal("entities", found, expected)
}

async fn pages_of_a_filter_join_to_its_whole_result(at: &Session) -> Outcome {
    let table = numbered(at, &["a", "b"], 6).await?;
    let (found, _) = walk(table.filter("N ge 2 and N lt 5").query("$top", "2")).await?;
    equal("entities", found, ["a/002", "a/003", "a/004", "b/002", "b/003", "b/004"])
}

/// The text inside `1!n!text`, with `-` back to `=`, decoded.
fn decoded(token: &str) -> Outcome<String> {
    let malformed = || Failure::new(format!("expected 1!n!base64 with - for =, got {token:?}"));
    let fields: Vec<&str> = token.splitn(3, '!').collect();
    let [version, length, text] = fields[..] else { return Err(malformed()) };
    if version != "1" || length.parse() != Ok(text.len()) || text.contains('=') {
        return Err(malformed());
    }
    let bytes = BASE64.decode(text.replace('-', "=")).map_err(|_| malformed())?;
    String::from_utf8(bytes).map_err(|_| malformed())
}

async fn first_tokens(table: &Table<'_>) -> Outcome<(String, String)> {
    let page = table.query().query("$top", "1").send().await?;
    let token = |name: &str| page.header(name).map(str::to_owned).ok_or_else(|| Failure::new(format!("no {name}")));
    Ok((token(PARTITION)?, token(ROW)?))
}

async fn tokens_have_the_form_of_the_service(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 2).await?;
    let (partition, row) = first_tokens(&table).await?;
    decoded(&partition)?;
    decoded(&row)?;
    Ok(())
}

async fn tokens_name_the_next_entity(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 3).await?;
    let (partition, row) = first_tokens(&table).await?;
    equal("NextPartitionKey", decoded(&partition)?.as_str(), "p")?;
    equal("NextRowKey", decoded(&row)?.as_str(), "001")
}

async fn tokens_carry_any_key(at: &Session) -> Outcome {
    let table = at.table().await?;
    let keys = ["", "a+b", "a=b", "it's", "\u{e9}\u{1f600}"];
    for key in keys {
        table.seed(json!({ "PartitionKey": key, "RowKey": key })).await?;
    }
    let (found, _) = walk(table.query().query("$top", "1")).await?;
    equal("entities", found, keys.map(|key| format!("{key}/{key}")))
}

async fn a_page_ends_after_1000_entities(at: &Session) -> Outcome {
    let table = at.table().await?;
    let base = at.base();
    for group in 0..11 {
        let count = if group < 10 { 100 } else { 1 };
        let entity = |n: usize| json!({ "PartitionKey": "p", "RowKey": format!("{:05}", group * 100 + n) });
        let parts: Vec<Part> = (0..count).map(|n| Part::insert(&table, &base, entity(n))).collect();
        batch::commit(at, &parts).await?;
    }
    let first = table.query().send().await?;
    equal("entities of the first page", first.items()?.len(), 1000)?;
    let rest = resumed(table.query(), &first).ok_or_else(|| Failure::new("no continuation after 1000 of 1001"))?;
    equal("entities of the second page", rest.send().await?.column("RowKey")?, ["01000"])
}

async fn a_page_that_ends_the_table_has_no_token(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 2).await?;
    let response = table.query().send().await?;
    response.expect(200)?.expect_no_header(PARTITION)?.expect_no_header(ROW)?;
    Ok(())
}

async fn a_partition_token_alone_resumes_at_the_partition(at: &Session) -> Outcome {
    let table = numbered(at, &["a", "b"], 2).await?;
    // The token of the first entity of b, without its row.
    let page = table.query().query("$top", "2").send().await?;
    let token = page.header(PARTITION).ok_or_else(|| Failure::new("no continuation"))?;
    let response = table.query().raw_query(&format!("NextPartitionKey={}", percent(token))).send().await?;
    equal("partitions", response.column("PartitionKey")?, ["b", "b"])
}

async fn a_malformed_token_is_refused(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 1).await?;
    for token in ["nonsense", "1!4!====", "1!99!cA--"] {
        let parameters = format!("NextPartitionKey={0}&NextRowKey={0}", percent(token));
        table.query().raw_query(&parameters).send().await?.expect_code(400, "InvalidInput")?;
    }
    Ok(())
}

async fn an_entity_inserted_behind_the_token_is_not_seen(at: &Session) -> Outcome {
    let table = numbered(at, &["p"], 4).await?;
    let page = table.query().query("$top", "2").send().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "000-late" })).await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "002-late" })).await?;
    let rest = resumed(table.query(), &page).ok_or_else(|| Failure::new("no continuation"))?;
    equal("rows of the second page", rest.send().await?.column("RowKey")?, ["002", "002-late", "003"])
}
