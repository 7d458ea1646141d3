//! The account's shared access signature: services, resource types, permissions.

use serde_json::json;

use crate::batch::{self, Part};
use crate::expect::equal;
use crate::request::Request;
use crate::sas::AccountSas;
use crate::{Outcome, Session, cases, clock};

cases! {
    Authentication {
        an_account_sas_gets_service_properties_with_s_and_r,
        an_account_sas_sets_service_properties_with_s_and_w,
        an_account_sas_gets_stats_with_s_and_r,
        an_account_sas_lists_tables_with_c_and_l,
        an_account_sas_creates_tables_with_c_and_c_or_w,
        an_account_sas_deletes_tables_with_c_and_d,
        an_account_sas_queries_entities_with_o_and_r,
        an_account_sas_reads_one_entity_with_o_and_r,
        an_account_sas_inserts_with_o_and_a,
        an_account_sas_updates_with_o_and_u,
        an_account_sas_merges_with_o_and_u,
        an_account_sas_upserts_with_o_and_both_a_and_u,
        an_account_sas_deletes_entities_with_o_and_d,
        write_permission_does_not_stand_for_add,
        an_account_sas_for_other_services_is_refused,
        an_account_sas_does_not_reach_acls,
        an_expired_account_sas_is_refused,
        an_altered_account_sas_is_refused,
        an_account_sas_keeps_the_order_of_its_letters,
        an_account_sas_of_2020_signs_one_more_field,
        an_account_sas_is_bound_to_its_address_and_protocol,
        a_batch_with_an_account_sas_is_authorised_by_operation,
    }
}

const LETTERS: &str = "rwdlacup";

async fn expect_served(at: &Session, request: Request<'_>, types: &str, letters: &str) -> Outcome {
    let sas = AccountSas::new(types, letters).query(at.target());
    request.sas(&sas).send().await?.expect_one_of(&[200, 201, 202, 204])?;
    Ok(())
}

async fn expect_permission_mismatch(at: &Session, request: &Request<'_>, types: &str, letters: &str) -> Outcome {
    let sas = AccountSas::new(types, letters).query(at.target());
    let message = "This request is not authorized to perform this operation using this permission.";
    request.clone().sas(&sas).send().await?.expect_error(403, "AuthorizationPermissionMismatch", message)?;
    Ok(())
}

/// Served with exactly this type and these letters; refused without the type, and without any one letter.
async fn expect_needed(at: &Session, request: Request<'_>, kind: &str, letters: &str) -> Outcome {
    let other_types: String = "sco".chars().filter(|letter| !kind.contains(*letter)).collect();
    let sas = AccountSas::new(&other_types, LETTERS).query(at.target());
    let message = "This request is not authorized to perform this operation using this resource type.";
    request.clone().sas(&sas).send().await?.expect_error(403, "AuthorizationResourceTypeMismatch", message)?;
    for missing in letters.chars() {
        let others: String = LETTERS.chars().filter(|letter| *letter != missing).collect();
        expect_permission_mismatch(at, &request, kind, &others).await?;
    }
    expect_served(at, request, kind, letters).await
}

async fn an_account_sas_gets_service_properties_with_s_and_r(at: &Session) -> Outcome {
    expect_needed(at, at.get_properties(), "s", "r").await
}

async fn an_account_sas_sets_service_properties_with_s_and_w(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    let unchanged = at.get_properties().send().await?.text();
    expect_needed(at, at.set_properties(unchanged.trim_start_matches('\u{feff}')), "s", "w").await
}

async fn an_account_sas_gets_stats_with_s_and_r(at: &Session) -> Outcome {
    let stats = at.get("/").raw_query("restype=service&comp=stats").accept("application/xml").at_secondary();
    expect_needed(at, stats, "s", "r").await
}

async fn an_account_sas_lists_tables_with_c_and_l(at: &Session) -> Outcome {
    expect_needed(at, at.get("/Tables").query("$top", "1"), "c", "l").await
}

async fn an_account_sas_creates_tables_with_c_and_c_or_w(at: &Session) -> Outcome {
    let name = at.unused_name();
    let neither: String = LETTERS.chars().filter(|letter| !"cw".contains(*letter)).collect();
    expect_permission_mismatch(at, &at.create(&name), "c", &neither).await?;
    expect_served(at, at.create(&name), "c", "c").await?;
    expect_served(at, at.create(&at.unused_name()), "c", "w").await
}

async fn an_account_sas_deletes_tables_with_c_and_d(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_needed(at, at.delete(format!("/Tables('{}')", table.name)), "c", "d").await
}

async fn an_account_sas_queries_entities_with_o_and_r(at: &Session) -> Outcome {
    expect_needed(at, at.table().await?.query(), "o", "r").await
}

async fn an_account_sas_reads_one_entity_with_o_and_r(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    expect_needed(at, table.read("p", "r"), "o", "r").await
}

async fn an_account_sas_inserts_with_o_and_a(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_needed(at, table.insert(json!({ "PartitionKey": "p", "RowKey": "r" })), "o", "a").await
}

async fn an_account_sas_updates_with_o_and_u(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    expect_needed(at, table.put("p", "r", json!({ "A": 1 })).if_match("*"), "o", "u").await
}

async fn an_account_sas_merges_with_o_and_u(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    expect_needed(at, table.merge("p", "r", json!({ "A": 1 })).if_match("*"), "o", "u").await
}

async fn an_account_sas_upserts_with_o_and_both_a_and_u(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_needed(at, table.put("p", "r", json!({ "A": 1 })), "o", "au").await?;
    expect_needed(at, table.merge("p", "r", json!({ "A": 1 })), "o", "au").await
}

async fn an_account_sas_deletes_entities_with_o_and_d(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    expect_needed(at, table.delete("p", "r"), "o", "d").await
}

/// Blobs accept `w` where tables want `a`.
async fn write_permission_does_not_stand_for_add(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = table.insert(json!({ "PartitionKey": "p", "RowKey": "r" }));
    expect_permission_mismatch(at, &insert, "o", "w").await
}

async fn an_account_sas_for_other_services_is_refused(at: &Session) -> Outcome {
    let sas = AccountSas { ss: "bqf".into(), ..AccountSas::new("sco", LETTERS) };
    let response = at.get("/Tables").sas(&sas.query(at.target())).send().await?;
    let message = "This request is not authorized to perform this operation using this service.";
    response.expect_error(403, "AuthorizationServiceMismatch", message)?;
    Ok(())
}

async fn an_account_sas_does_not_reach_acls(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = AccountSas::new("sco", LETTERS).query(at.target());
    table.acl().sas(&sas).send().await?.expect_one_of(&[403, 404])?;
    table.set_acl("<SignedIdentifiers/>").sas(&sas).send().await?.expect_one_of(&[403, 404])?;
    Ok(())
}

async fn an_expired_account_sas_is_refused(at: &Session) -> Outcome {
    let sas = AccountSas { se: clock::iso8601(clock::now() - clock::minutes(1)), ..AccountSas::new("sco", LETTERS) };
    at.get("/Tables").sas(&sas.query(at.target())).send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn an_altered_account_sas_is_refused(at: &Session) -> Outcome {
    let sas = AccountSas::new("o", "l").query(at.target()).replace("srt=o", "srt=c");
    at.get("/Tables").sas(&sas).send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

/// Python writes `srt=soc`; sorting it before hashing would break its signature.
async fn an_account_sas_keeps_the_order_of_its_letters(at: &Session) -> Outcome {
    for (types, letters) in [("soc", "lr"), ("cos", "puca")] {
        let sas = AccountSas::new(types, &format!("{letters}l")).query(at.target());
        at.get("/Tables").query("$top", "1").sas(&sas).send().await?.expect(200)?;
    }
    Ok(())
}

async fn an_account_sas_of_2020_signs_one_more_field(at: &Session) -> Outcome {
    for version in ["2015-04-05", "2020-10-02", "2020-12-06", "2024-11-04"] {
        let sas = AccountSas { sv: version.into(), ..AccountSas::new("c", "l") };
        at.get("/Tables").query("$top", "1").sas(&sas.query(at.target())).send().await?.expect(200)?;
    }
    Ok(())
}

async fn an_account_sas_is_bound_to_its_address_and_protocol(at: &Session) -> Outcome {
    let elsewhere = AccountSas { sip: "203.0.113.7".into(), ..AccountSas::new("c", "l") };
    let response = at.get("/Tables").sas(&elsewhere.query(at.target())).send().await?;
    response.expect_code(403, "AuthorizationSourceIPMismatch")?;
    if !at.target().primary.tls {
        let secure = AccountSas { spr: "https".into(), ..AccountSas::new("c", "l") };
        let response = at.get("/Tables").sas(&secure.query(at.target())).send().await?;
        response.expect_code(403, "AuthorizationProtocolMismatch")?;
    }
    Ok(())
}

async fn a_batch_with_an_account_sas_is_authorised_by_operation(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = [Part::insert(&table, &at.base(), json!({ "PartitionKey": "p", "RowKey": "r" }))];
    let request = batch::request(at, batch::changeset_body(&insert));
    let without_add = AccountSas::new("o", "rwdu").query(at.target());
    let refused = request.clone().sas(&without_add).send().await?;
    if refused.status() == 202 {
        batch::changeset_answers(&refused)?[0].expect(403)?;
    } else {
        refused.expect(403)?;
    }
    equal("rows written", table.query().send().await?.items()?.len(), 0)?;
    let served = request.sas(&AccountSas::new("o", "a").query(at.target())).send().await?;
    batch::changeset_answers(&served)?[0].expect(204)?;
    Ok(())
}
