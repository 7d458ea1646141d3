//! The table's own shared access signature: permissions, times, addresses, older forms.

use serde_json::json;

use crate::expect::ensure;
use crate::request::Request;
use crate::sas::TableSas;
use crate::table::Table;
use crate::{Failure, Outcome, Session, cases, clock};

cases! {
    Authentication {
        a_table_sas_reads_and_writes,
        a_table_sas_needs_r_to_query,
        a_table_sas_needs_a_to_insert,
        a_table_sas_needs_u_to_update_and_merge,
        a_table_sas_needs_a_and_u_to_upsert,
        a_table_sas_needs_d_to_delete,
        the_table_name_of_a_sas_matches_in_any_case,
        a_table_sas_is_no_good_for_another_table,
        a_table_sas_does_not_list_create_or_delete_tables,
        a_table_sas_does_not_read_or_set_the_acl,
        a_table_sas_does_not_read_service_properties,
        an_expired_sas_is_refused,
        a_sas_is_refused_before_its_start,
        the_times_of_a_sas_come_in_four_forms,
        a_sas_without_expiry_is_refused,
        a_sas_with_an_altered_field_is_refused,
        a_sas_signed_with_another_key_is_refused,
        a_sas_without_signature_is_refused,
        a_sas_for_another_account_is_refused,
        a_sas_for_the_callers_address_is_accepted,
        a_sas_for_another_address_is_refused,
        a_sas_for_both_protocols_is_accepted,
        a_sas_for_https_is_refused_over_http,
        table_sas_of_older_versions_are_accepted,
    }
}

fn full(table: &Table) -> TableSas {
    TableSas::new(&table.name, "raud")
}

async fn expect_mismatch(request: Request<'_>) -> Outcome {
    let message = "This request is not authorized to perform this operation using this permission.";
    request.send().await?.expect_error(403, "AuthorizationPermissionMismatch", message)?;
    Ok(())
}

async fn expect_refused(request: Request<'_>) -> Outcome {
    request.send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

/// The operations a table signature can allow, each with the permission letters it needs.
fn operations<'s>(table: &Table<'s>) -> Vec<(&'static str, Request<'s>)> {
    let entity = json!({ "PartitionKey": "p", "RowKey": "new" });
    vec![
        ("r", table.query()),
        ("r", table.read("p", "r")),
        ("a", table.insert(entity)),
        ("u", table.put("p", "r", json!({ "A": 2 })).if_match("*")),
        ("u", table.merge("p", "r", json!({ "A": 3 })).if_match("*")),
        ("au", table.put("p", "r", json!({ "A": 4 }))),
        ("au", table.merge("p", "r", json!({ "A": 5 }))),
        ("d", table.delete("p", "r")),
    ]
}

/// The operations that need exactly `letters` succeed with them and fail with any one of them missing.
async fn expect_needed(at: &Session, letters: &str) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    for (needed, request) in operations(&table) {
        if needed != letters {
            continue;
        }
        for missing in needed.chars() {
            let others: String = "raud".chars().filter(|letter| *letter != missing).collect();
            let sas = TableSas::new(&table.name, &others).query(at.target());
            expect_mismatch(request.clone().sas(&sas)).await?;
        }
        let sas = TableSas::new(&table.name, needed).query(at.target());
        request.sas(&sas).send().await?.expect_one_of(&[200, 201, 204])?;
    }
    Ok(())
}

async fn a_table_sas_reads_and_writes(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let sas = full(&table).query(at.target());
    for (_, request) in operations(&table) {
        request.sas(&sas).send().await?.expect_one_of(&[200, 201, 204])?;
    }
    Ok(())
}

async fn a_table_sas_needs_r_to_query(at: &Session) -> Outcome {
    expect_needed(at, "r").await
}

async fn a_table_sas_needs_a_to_insert(at: &Session) -> Outcome {
    expect_needed(at, "a").await
}

async fn a_table_sas_needs_u_to_update_and_merge(at: &Session) -> Outcome {
    expect_needed(at, "u").await
}

async fn a_table_sas_needs_a_and_u_to_upsert(at: &Session) -> Outcome {
    expect_needed(at, "au").await
}

async fn a_table_sas_needs_d_to_delete(at: &Session) -> Outcome {
    expect_needed(at, "d").await
}

async fn the_table_name_of_a_sas_matches_in_any_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    let shouted = TableSas::new(&table.name.to_uppercase(), "r").query(at.target());
    table.query().sas(&shouted).send().await?.expect(200)?;
    let plain = TableSas::new(&table.name, "r").query(at.target());
    at.get(format!("/{}()", table.name.to_uppercase())).sas(&plain).send().await?.expect(200)?;
    Ok(())
}

async fn expect_out_of_scope(request: Request<'_>) -> Outcome {
    let response = request.send().await?;
    response.expect_any_code(&[(403, "AuthorizationFailure"), (403, "AuthenticationFailed")])?;
    Ok(())
}

async fn a_table_sas_is_no_good_for_another_table(at: &Session) -> Outcome {
    let (table, other) = (at.table().await?, at.table().await?);
    expect_out_of_scope(other.query().sas(&full(&table).query(at.target()))).await
}

async fn a_table_sas_does_not_list_create_or_delete_tables(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = full(&table).query(at.target());
    at.get("/Tables").sas(&sas).send().await?.expect(403)?;
    at.create(&at.unused_name()).sas(&sas).send().await?.expect(403)?;
    at.delete(format!("/Tables('{}')", table.name)).sas(&sas).send().await?.expect(403)?;
    table.query().send().await?.expect(200)?;
    Ok(())
}

async fn a_table_sas_does_not_read_or_set_the_acl(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = full(&table).query(at.target());
    table.acl().sas(&sas).send().await?.expect_one_of(&[403, 404])?;
    table.set_acl("<SignedIdentifiers/>").sas(&sas).send().await?.expect_one_of(&[403, 404])?;
    Ok(())
}

async fn a_table_sas_does_not_read_service_properties(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.get_properties().sas(&full(&table).query(at.target())).send().await?.expect(403)?;
    Ok(())
}

async fn an_expired_sas_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = TableSas { se: clock::iso8601(clock::now() - clock::minutes(1)), ..full(&table) };
    expect_refused(table.query().sas(&sas.query(at.target()))).await
}

async fn a_sas_is_refused_before_its_start(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = TableSas { st: clock::iso8601(clock::now() + clock::minutes(30)), ..full(&table) };
    expect_refused(table.query().sas(&sas.query(at.target()))).await?;
    let started = TableSas { st: clock::iso8601(clock::now() - clock::minutes(30)), ..full(&table) };
    table.query().sas(&started.query(at.target())).send().await?.expect(200)?;
    Ok(())
}

async fn the_times_of_a_sas_come_in_four_forms(at: &Session) -> Outcome {
    let table = at.table().await?;
    for expiry in ["2099-01-01", "2099-01-01T10:20Z", "2099-01-01T10:20:30Z", "2099-01-01T10:20:30.1234567Z"] {
        let sas = TableSas { se: expiry.into(), ..full(&table) };
        table.query().sas(&sas.query(at.target())).send().await?.expect(200)?;
    }
    Ok(())
}

async fn a_sas_without_expiry_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = TableSas { se: String::new(), ..full(&table) };
    expect_refused(table.query().sas(&sas.query(at.target()))).await
}

async fn a_sas_with_an_altered_field_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = TableSas::new(&table.name, "r").query(at.target());
    expect_refused(table.query().sas(&sas.replace("sp=r", "sp=raud"))).await
}

async fn a_sas_signed_with_another_key_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let mut other = at.target().clone();
    other.key = b"not the key of this account".to_vec();
    expect_refused(table.query().sas(&full(&table).query(&other))).await
}

async fn a_sas_without_signature_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = full(&table).query(at.target());
    let (unsigned, _) = sas.split_once("&sig=").expect("the signature comes last");
    table.query().sas(unsigned).send().await?.expect_one_of(&[400, 401, 403, 404])?;
    Ok(())
}

async fn a_sas_for_another_account_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_refused(table.query().sas(&full(&table).query_signed_for(at.target(), "someoneelse"))).await
}

async fn a_sas_for_the_callers_address_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let mut ranges = vec!["0.0.0.0-255.255.255.255"];
    if at.target().primary.host == "127.0.0.1" {
        ranges.extend(["127.0.0.1", "127.0.0.0-127.0.0.9"]);
    }
    for range in ranges {
        let sas = TableSas { sip: range.into(), ..full(&table) };
        table.query().sas(&sas.query(at.target())).send().await?.expect(200)?;
    }
    Ok(())
}

async fn a_sas_for_another_address_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for range in ["203.0.113.7", "203.0.113.1-203.0.113.9"] {
        let sas = TableSas { sip: range.into(), ..full(&table) };
        let response = table.query().sas(&sas.query(at.target())).send().await?;
        let message = response.expect_code(403, "AuthorizationSourceIPMismatch")?.error()?.message;
        let prefix = "This request is not authorized to perform this operation using this source IP";
        ensure(message.starts_with(prefix), || format!("message: {message:?}"))?;
    }
    Ok(())
}

async fn a_sas_for_both_protocols_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = TableSas { spr: "https,http".into(), ..full(&table) };
    table.query().sas(&sas.query(at.target())).send().await?.expect(200)?;
    Ok(())
}

async fn a_sas_for_https_is_refused_over_http(at: &Session) -> Outcome {
    if at.target().primary.tls {
        return Err(Failure::skipped("the target is reached over https"));
    }
    let table = at.table().await?;
    let sas = TableSas { spr: "https".into(), ..full(&table) };
    let message = "This request is not authorized to perform this operation using this protocol.";
    let response = table.query().sas(&sas.query(at.target())).send().await?;
    response.expect_error(403, "AuthorizationProtocolMismatch", message)?;
    Ok(())
}

/// Each of these versions changed the string to sign, or is the last before a change.
async fn table_sas_of_older_versions_are_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    for version in ["2012-02-12", "2013-08-15", "2014-02-14", "2015-02-21", "2015-04-05", "2015-12-11", "2020-12-06"] {
        let sas = TableSas { sv: version.into(), ..full(&table) };
        table.query().sas(&sas.query(at.target())).send().await?.expect(200)?;
    }
    Ok(())
}
