//! Create Table: the three preferences, the three metadata levels, and its refusals.

use serde_json::json;

use crate::request::{FULL, NONE};
use crate::{Outcome, Session, cases};

cases! {
    CreateTable {
        create_answers_with_the_table,
        create_answers_with_the_location_of_the_table,
        create_with_return_content_says_so,
        create_with_return_no_content_has_no_body,
        create_without_metadata_names_the_table_only,
        create_with_full_metadata_links_the_table,
        create_format_parameter_goes_before_accept,
        create_has_no_etag,
        create_ignores_annotations_in_the_body,
        create_accepts_json_of_any_metadata_level,
        an_existing_table_is_not_created_again,
        an_existing_table_is_recognised_in_any_case,
        a_refused_creation_still_names_the_preference,
        a_table_body_without_a_name_is_refused,
        a_table_body_that_is_not_json_is_refused,
    }
}

async fn create_answers_with_the_location_of_the_table(at: &Session) -> Outcome {
    let name = at.unused_name();
    let url = format!("{}/Tables('{name}')", at.base());
    let with_content = at.create(&name).send().await?;
    with_content.expect(201)?.expect_header("Location", &url)?;
    let name = at.unused_name();
    let url = format!("{}/Tables('{name}')", at.base());
    let without = at.create(&name).prefer("return-no-content").send().await?;
    without.expect(204)?.expect_header("Location", &url)?.expect_header("DataServiceId", &url)?;
    Ok(())
}

async fn create_answers_with_the_table(at: &Session) -> Outcome {
    let (base, name) = (at.base(), at.unused_name());
    let response = at.create(&name).send().await?;
    response.expect(201)?.expect_no_header("Preference-Applied")?;
    response
        .expect_body(&format!(r#"{{"odata.metadata":"{base}/$metadata#Tables/@Element","TableName":"{name}"}}"#))?;
    Ok(())
}

async fn create_with_return_content_says_so(at: &Session) -> Outcome {
    let (base, name) = (at.base(), at.unused_name());
    let response = at.create(&name).prefer("return-content").send().await?;
    response.expect(201)?.expect_header("Preference-Applied", "return-content")?;
    response
        .expect_body(&format!(r#"{{"odata.metadata":"{base}/$metadata#Tables/@Element","TableName":"{name}"}}"#))?;
    Ok(())
}

async fn create_with_return_no_content_has_no_body(at: &Session) -> Outcome {
    let response = at.create(&at.unused_name()).prefer("return-no-content").send().await?;
    response.expect(204)?.expect_no_body()?.expect_header("Preference-Applied", "return-no-content")?;
    Ok(())
}

async fn create_without_metadata_names_the_table_only(at: &Session) -> Outcome {
    let name = at.unused_name();
    let response = at.create(&name).accept(NONE).send().await?;
    response.expect(201)?.expect_body(&format!(r#"{{"TableName":"{name}"}}"#))?;
    Ok(())
}

async fn create_with_full_metadata_links_the_table(at: &Session) -> Outcome {
    let (base, account, name) = (at.base(), &at.target().account, at.unused_name());
    let response = at.create(&name).accept(FULL).send().await?;
    response.expect(201)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#Tables/@Element","odata.type":"{account}.Tables","odata.id":"{base}/Tables('{name}')","odata.editLink":"Tables('{name}')","TableName":"{name}"}}"#
    ))?;
    Ok(())
}

async fn create_format_parameter_goes_before_accept(at: &Session) -> Outcome {
    let name = at.unused_name();
    let response = at.create(&name).query("$format", NONE).accept(FULL).send().await?;
    response.expect(201)?.expect_body(&format!(r#"{{"TableName":"{name}"}}"#))?;
    Ok(())
}

async fn create_has_no_etag(at: &Session) -> Outcome {
    at.create(&at.unused_name()).send().await?.expect(201)?.expect_no_header("ETag")?;
    Ok(())
}

async fn create_ignores_annotations_in_the_body(at: &Session) -> Outcome {
    let name = at.unused_name();
    at.drop_afterwards(&name);
    let body = json!({ "odata.metadata": "x", "odata.type": "y", "odata.etag": "z", "TableName": name });
    at.post("/Tables").json(body).send().await?.expect(201)?;
    Ok(())
}

async fn create_accepts_json_of_any_metadata_level(at: &Session) -> Outcome {
    for content_type in [
        "application/json;odata=nometadata",
        "application/json; odata=fullmetadata",
        "application/json;odata=minimalmetadata;charset=utf-8",
        "application/json;type=entry",
    ] {
        at.create(&at.unused_name()).header("Content-Type", content_type).send().await?.expect(201)?;
    }
    Ok(())
}

const EXISTS: &str = "The table specified already exists.";

async fn an_existing_table_is_not_created_again(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.create(&table.name).send().await?.expect_error(409, "TableAlreadyExists", EXISTS)?;
    Ok(())
}

async fn an_existing_table_is_recognised_in_any_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.create(&table.name.to_uppercase()).send().await?.expect_error(409, "TableAlreadyExists", EXISTS)?;
    Ok(())
}

async fn a_refused_creation_still_names_the_preference(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = at.create(&table.name).prefer("return-no-content").send().await?;
    response.expect(409)?.expect_header("Preference-Applied", "return-no-content")?;
    Ok(())
}

async fn a_table_body_without_a_name_is_refused(at: &Session) -> Outcome {
    at.post("/Tables").json("{}").send().await?.expect_code(400, "PropertiesNeedValue")?;
    Ok(())
}

async fn a_table_body_that_is_not_json_is_refused(at: &Session) -> Outcome {
    for body in ["", "{", "[]", "\"x\"", "TableName=x"] {
        at.post("/Tables")
            .json(body)
            .send()
            .await?
            .expect_any_code(&[(400, "InvalidInput"), (400, "PropertiesNeedValue")])?;
    }
    Ok(())
}
