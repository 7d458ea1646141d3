//! Shared access signatures that refer to a stored access policy.

use crate::request::Request;
use crate::sas::TableSas;
use crate::table::Table;
use crate::{Outcome, Session, cases, clock};

cases! {
    Authentication {
        a_policy_supplies_permissions_and_times,
        a_policy_supplies_what_the_url_leaves_out,
        a_field_in_both_policy_and_url_is_refused,
        an_unknown_policy_is_refused,
        an_expired_policy_is_refused,
        a_policy_that_has_not_started_is_refused,
        the_permissions_of_a_policy_bind,
        removing_a_policy_revokes_its_signatures,
        a_signature_without_permissions_anywhere_is_refused,
    }
}

fn from_now(minutes: i64) -> String {
    let span = clock::minutes(minutes.unsigned_abs());
    clock::iso8601(if minutes < 0 { clock::now() - span } else { clock::now() + span })
}

/// A policy with all three fields that ends this many minutes from now.
fn reading_until(minutes: i64) -> String {
    let times = format!("<Start>{}</Start><Expiry>{}</Expiry>", from_now(-10), from_now(minutes));
    format!("{times}<Permission>r</Permission>")
}

async fn store_policy(table: &Table<'_>, policy: &str) -> Outcome {
    let body = format!(
        "<SignedIdentifiers><SignedIdentifier><Id>policy</Id><AccessPolicy>{policy}</AccessPolicy>\
         </SignedIdentifier></SignedIdentifiers>"
    );
    table.set_acl(body).send().await?.expect(204)?;
    Ok(())
}

/// A signature that says nothing itself.
fn by_policy(table: &Table) -> TableSas {
    TableSas { si: "policy".into(), sp: String::new(), se: String::new(), ..TableSas::new(&table.name, "") }
}

async fn expect_refused(request: Request<'_>) -> Outcome {
    request.send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_policy_supplies_permissions_and_times(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, &reading_until(60)).await?;
    table.query().sas(&by_policy(&table).query(at.target())).send().await?.expect(200)?;
    Ok(())
}

async fn a_policy_supplies_what_the_url_leaves_out(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, "<Permission>r</Permission>").await?;
    let with_expiry = TableSas { se: from_now(60), ..by_policy(&table) };
    table.query().sas(&with_expiry.query(at.target())).send().await?.expect(200)?;
    store_policy(&table, &format!("<Expiry>{}</Expiry>", from_now(60))).await?;
    let with_permission = TableSas { sp: "r".into(), ..by_policy(&table) };
    table.query().sas(&with_permission.query(at.target())).send().await?.expect(200)?;
    Ok(())
}

async fn a_field_in_both_policy_and_url_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, &reading_until(60)).await?;
    let twice = TableSas { sp: "r".into(), ..by_policy(&table) };
    expect_refused(table.query().sas(&twice.query(at.target()))).await
}

async fn an_unknown_policy_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let sas = TableSas { si: "nobody".into(), ..TableSas::new(&table.name, "r") };
    expect_refused(table.query().sas(&sas.query(at.target()))).await
}

async fn an_expired_policy_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, &reading_until(-1)).await?;
    expect_refused(table.query().sas(&by_policy(&table).query(at.target()))).await
}

async fn a_policy_that_has_not_started_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let times = format!("<Start>{}</Start><Expiry>{}</Expiry>", from_now(30), from_now(60));
    store_policy(&table, &format!("{times}<Permission>r</Permission>")).await?;
    expect_refused(table.query().sas(&by_policy(&table).query(at.target()))).await
}

async fn the_permissions_of_a_policy_bind(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, &reading_until(60)).await?;
    let insert = table.insert(serde_json::json!({ "PartitionKey": "p", "RowKey": "r" }));
    let response = insert.sas(&by_policy(&table).query(at.target())).send().await?;
    response.expect_code(403, "AuthorizationPermissionMismatch")?;
    Ok(())
}

async fn removing_a_policy_revokes_its_signatures(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, &reading_until(60)).await?;
    let sas = by_policy(&table).query(at.target());
    table.query().sas(&sas).send().await?.expect(200)?;
    table.set_acl("<SignedIdentifiers />").send().await?.expect(204)?;
    expect_refused(table.query().sas(&sas)).await
}

async fn a_signature_without_permissions_anywhere_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    store_policy(&table, &format!("<Expiry>{}</Expiry>", from_now(60))).await?;
    table.query().sas(&by_policy(&table).query(at.target())).send().await?.expect(403)?;
    Ok(())
}
