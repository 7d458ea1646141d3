//! Get and Set Table ACL: stored access policies.

use crate::expect::equal;
use crate::request::Request;
use crate::table::Table;
use crate::xml::Element;
use crate::{Outcome, Session, cases};

cases! {
    GetTableAcl {
        a_new_table_has_no_policies,
        the_acl_of_a_missing_table_is_not_found,
        the_acl_is_served_whatever_accept_says,
        the_acl_answers_head,
    }
    SetTableAcl {
        setting_the_acl_answers_with_nothing,
        policies_come_back_with_seven_digits,
        fields_not_set_are_left_out,
        setting_the_acl_replaces_the_whole_list,
        an_empty_body_clears_the_acl,
        an_empty_list_clears_the_acl,
        a_byte_order_mark_is_accepted,
        the_policy_may_come_before_its_id,
        dates_are_accepted_in_every_form,
        empty_elements_mean_not_set,
        a_policy_may_be_an_id_alone,
        five_policies_are_accepted,
        six_policies_are_refused,
        an_id_of_64_characters_is_accepted,
        an_id_of_65_characters_is_refused,
        duplicate_ids_are_refused,
        malformed_xml_is_refused,
        a_bad_date_or_permission_is_refused,
        setting_the_acl_of_a_missing_table_is_not_found,
        a_refused_acl_changes_nothing,
    }
}

/// Most cases set every field, so that only those about absent fields depend on them.
const POLICY: &str =
    "<Start>2020-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00Z</Expiry><Permission>r</Permission>";

fn identifier(id: &str, policy: &str) -> String {
    format!("<SignedIdentifier><Id>{id}</Id><AccessPolicy>{policy}</AccessPolicy></SignedIdentifier>")
}

fn document(identifiers: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>{identifiers}</SignedIdentifiers>")
}

async fn policies(table: &Table<'_>) -> Outcome<Element> {
    let root = table.acl().send().await?.expect(200)?.xml()?;
    equal("root", root.name.as_str(), "SignedIdentifiers")?;
    Ok(root)
}

async fn ids(table: &Table<'_>) -> Outcome<Vec<String>> {
    Ok(policies(table).await?.children.iter().map(|entry| entry.at("Id").unwrap_or_default().to_owned()).collect())
}

async fn set(table: &Table<'_>, body: impl Into<Vec<u8>>) -> Outcome {
    table.set_acl(body).send().await?.expect(204)?;
    Ok(())
}

async fn a_new_table_has_no_policies(at: &Session) -> Outcome {
    let response = at.table().await?.acl().send().await?;
    response.expect(200)?.expect_header("Content-Type", "application/xml")?;
    let root = response.xml()?;
    equal("root", root.name.as_str(), "SignedIdentifiers")?;
    equal("policies", root.children.len(), 0)
}

async fn expect_no_table(request: Request<'_>) -> Outcome {
    let response = request.send().await?;
    response.expect_any_code(&[(404, "TableNotFound"), (404, "ResourceNotFound")])?;
    Ok(())
}

async fn the_acl_of_a_missing_table_is_not_found(at: &Session) -> Outcome {
    expect_no_table(at.missing_table().acl()).await
}

async fn setting_the_acl_of_a_missing_table_is_not_found(at: &Session) -> Outcome {
    expect_no_table(at.missing_table().set_acl(document(""))).await
}

async fn the_acl_is_served_whatever_accept_says(at: &Session) -> Outcome {
    let table = at.table().await?;
    for accept in ["*/*", "application/atom+xml,application/xml", "application/json"] {
        table.acl().accept(accept).send().await?.expect(200)?;
    }
    table.acl().without("Accept").send().await?.expect(200)?;
    Ok(())
}

async fn the_acl_answers_head(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.request("HEAD", table.path()).raw_query("comp=acl").send().await?.expect(200)?;
    Ok(())
}

async fn setting_the_acl_answers_with_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.set_acl(document("")).send().await?.expect(204)?.expect_no_body()?;
    Ok(())
}

async fn policies_come_back_with_seven_digits(at: &Session) -> Outcome {
    let table = at.table().await?;
    let policy = "<Start>2020-01-01T01:01:00Z</Start><Expiry>2021-01-01T01:01:00.5000000Z</Expiry>\
        <Permission>raud</Permission>";
    set(&table, document(&identifier("id1", policy))).await?;
    let root = policies(&table).await?;
    equal("Id", root.at("SignedIdentifier/Id"), Some("id1"))?;
    equal("Start", root.at("SignedIdentifier/AccessPolicy/Start"), Some("2020-01-01T01:01:00.0000000Z"))?;
    equal("Expiry", root.at("SignedIdentifier/AccessPolicy/Expiry"), Some("2021-01-01T01:01:00.5000000Z"))?;
    equal("Permission", root.at("SignedIdentifier/AccessPolicy/Permission"), Some("raud"))
}

async fn fields_not_set_are_left_out(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&identifier("id1", "<Permission>r</Permission>"))).await?;
    let root = policies(&table).await?;
    let policy = root.children[0].child("AccessPolicy");
    equal("fields", policy.map(Element::names), Some(vec!["Permission"]))
}

async fn setting_the_acl_replaces_the_whole_list(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&[identifier("a", POLICY), identifier("b", POLICY)].concat())).await?;
    equal("ids", ids(&table).await?, ["a", "b"])?;
    set(&table, document(&identifier("c", POLICY))).await?;
    equal("ids", ids(&table).await?, ["c"])
}

async fn expect_cleared_by(at: &Session, body: &str) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&identifier("a", POLICY))).await?;
    set(&table, body).await?;
    equal("ids", ids(&table).await?.len(), 0)
}

async fn an_empty_body_clears_the_acl(at: &Session) -> Outcome {
    expect_cleared_by(at, "").await
}

async fn an_empty_list_clears_the_acl(at: &Session) -> Outcome {
    expect_cleared_by(at, "<SignedIdentifiers />").await
}

async fn a_byte_order_mark_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, format!("\u{feff}{}", document(&identifier("a", POLICY)))).await?;
    equal("ids", ids(&table).await?, ["a"])
}

async fn the_policy_may_come_before_its_id(at: &Session) -> Outcome {
    let table = at.table().await?;
    let body = format!("<SignedIdentifier><AccessPolicy>{POLICY}</AccessPolicy><Id>a</Id></SignedIdentifier>");
    set(&table, document(&body)).await?;
    let root = policies(&table).await?;
    equal("Id", root.at("SignedIdentifier/Id"), Some("a"))?;
    equal("Permission", root.at("SignedIdentifier/AccessPolicy/Permission"), Some("r"))
}

async fn dates_are_accepted_in_every_form(at: &Session) -> Outcome {
    let table = at.table().await?;
    for date in ["2031-01-01T10:20:30Z", "2031-01-01T10:20:30.0000000Z", "2031-01-01T10:20Z"] {
        set(&table, document(&identifier("a", &POLICY.replace("2030-01-01T00:00:00Z", date)))).await?;
    }
    Ok(())
}

async fn empty_elements_mean_not_set(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&identifier("a", "<Start /><Expiry></Expiry><Permission />"))).await?;
    equal("ids", ids(&table).await?, ["a"])?;
    equal("Expiry", policies(&table).await?.at("SignedIdentifier/AccessPolicy/Expiry").unwrap_or_default(), "")
}

async fn a_policy_may_be_an_id_alone(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document("<SignedIdentifier><Id>a</Id></SignedIdentifier>")).await?;
    equal("ids", ids(&table).await?, ["a"])
}

fn numbered(count: usize) -> String {
    (0..count).map(|number| identifier(&format!("id{number}"), POLICY)).collect()
}

async fn five_policies_are_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&numbered(5))).await?;
    equal("policies", ids(&table).await?.len(), 5)
}

async fn expect_refused(at: &Session, body: &str, accepted: &[(u16, &str)]) -> Outcome {
    let response = at.table().await?.set_acl(body).send().await?;
    response.expect_any_code(accepted)?;
    Ok(())
}

const DOCUMENT: &[(u16, &str)] = &[(400, "InvalidXmlDocument")];
const DOCUMENT_OR_VALUE: &[(u16, &str)] = &[(400, "InvalidXmlDocument"), (400, "InvalidXmlNodeValue")];

async fn six_policies_are_refused(at: &Session) -> Outcome {
    expect_refused(at, &document(&numbered(6)), DOCUMENT).await
}

async fn an_id_of_64_characters_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&identifier(&"i".repeat(64), POLICY))).await?;
    equal("ids", ids(&table).await?, ["i".repeat(64)])
}

async fn an_id_of_65_characters_is_refused(at: &Session) -> Outcome {
    let body = document(&identifier(&"i".repeat(65), POLICY));
    expect_refused(at, &body, DOCUMENT_OR_VALUE).await
}

async fn duplicate_ids_are_refused(at: &Session) -> Outcome {
    let twice = identifier("a", POLICY).repeat(2);
    expect_refused(at, &document(&twice), DOCUMENT).await
}

async fn malformed_xml_is_refused(at: &Session) -> Outcome {
    for body in ["<SignedIdentifiers>", "not xml", "<Other />"] {
        expect_refused(at, body, DOCUMENT).await?;
    }
    Ok(())
}

async fn a_bad_date_or_permission_is_refused(at: &Session) -> Outcome {
    for (field, value) in [("2030-01-01T00:00:00Z", "tomorrow"), (">r<", ">xyz<")] {
        expect_refused(at, &document(&identifier("a", &POLICY.replace(field, value))), DOCUMENT_OR_VALUE).await?;
    }
    Ok(())
}

async fn a_refused_acl_changes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    set(&table, document(&identifier("kept", POLICY))).await?;
    table.set_acl(document(&numbered(6))).send().await?.expect(400)?;
    equal("ids", ids(&table).await?, ["kept"])
}
