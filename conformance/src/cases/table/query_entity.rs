//! Reading one entity by its keys, at each metadata level.

use serde_json::json;

use crate::expect::equal;
use crate::request::{FULL, MINIMAL, NONE};
use crate::{Outcome, Session, cases};

cases! {
    QueryEntity {
        a_read_at_minimal_metadata_has_the_shape_of_the_service,
        a_read_without_metadata_has_the_shape_of_the_service,
        a_read_at_full_metadata_has_the_shape_of_the_service,
        a_read_has_an_etag_at_every_level,
        a_read_of_a_missing_entity_is_not_found,
        a_read_in_a_missing_table_is_not_found,
        a_read_takes_the_format_parameter_before_accept,
        a_read_selects_properties,
        a_read_with_full_metadata_encodes_its_links,
    }
}

const ENTITY: &str = r#"{"PartitionKey":"p","RowKey":"r","A":"x"}"#;

async fn a_read_at_minimal_metadata_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    table.seed(ENTITY).await?;
    let name = &table.name;
    table.read("p", "r").accept(MINIMAL).send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}/@Element","odata.etag":"W/\"datetime'⟨etag⟩'\"","PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}}"#
    ))?;
    Ok(())
}

async fn a_read_without_metadata_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let response = table.read("p", "r").accept(NONE).send().await?;
    response.expect(200)?.expect_body(r#"{"PartitionKey":"p","RowKey":"r","Timestamp":"⟨time⟩","A":"x"}"#)?;
    Ok(())
}

async fn a_read_at_full_metadata_has_the_shape_of_the_service(at: &Session) -> Outcome {
    let (base, account, table) = (at.base(), &at.target().account, at.table().await?);
    table.seed(ENTITY).await?;
    let name = &table.name;
    table.read("p", "r").accept(FULL).send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}/@Element","odata.type":"{account}.{name}","odata.id":"{base}/{name}(PartitionKey='p',RowKey='r')","odata.etag":"W/\"datetime'⟨etag⟩'\"","odata.editLink":"{name}(PartitionKey='p',RowKey='r')","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","Timestamp":"⟨time⟩","A":"x"}}"#
    ))?;
    Ok(())
}

async fn a_read_has_an_etag_at_every_level(at: &Session) -> Outcome {
    let table = at.table().await?;
    let etag = table.seed(ENTITY).await?.etag()?;
    for level in [NONE, MINIMAL, FULL] {
        table.read("p", "r").accept(level).send().await?.expect(200)?.expect_header("ETag", &etag)?;
    }
    Ok(())
}

async fn a_read_of_a_missing_entity_is_not_found(at: &Session) -> Outcome {
    let response = at.table().await?.read("p", "r").send().await?;
    response.expect_error(404, "ResourceNotFound", "The specified resource does not exist.")?;
    Ok(())
}

async fn a_read_in_a_missing_table_is_not_found(at: &Session) -> Outcome {
    let response = at.missing_table().read("p", "r").send().await?;
    response.expect_error(404, "TableNotFound", "The table specified does not exist.")?;
    Ok(())
}

async fn a_read_takes_the_format_parameter_before_accept(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(ENTITY).await?;
    let full = table.read("p", "r").query("$format", FULL).accept(NONE).send().await?;
    full.expect(200)?.expect_body_contains("odata.editLink")?;
    let encoded = "%24format=application%2Fjson%3Bodata%3Dnometadata";
    let none = table.read("p", "r").raw_query(encoded).accept(FULL).send().await?;
    none.expect(200)?.expect_body_lacks("odata.")?;
    Ok(())
}

async fn a_read_selects_properties(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    table.seed(ENTITY).await?;
    let name = &table.name;
    table.read("p", "r").query("$select", "A").send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#{name}/@Element&$select=A","odata.etag":"W/\"datetime'⟨etag⟩'\"","A":"x"}}"#
    ))?;
    Ok(())
}

async fn a_read_with_full_metadata_encodes_its_links(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    table.seed(json!({ "PartitionKey": "it's", "RowKey": "a b" })).await?;
    let keys = "(PartitionKey='it''s',RowKey='a%20b')";
    let entity = table.read("it's", "a b").accept(FULL).send().await?.expect(200)?.json()?;
    let id = format!("{base}/{}{keys}", table.name);
    equal("odata.id", entity["odata.id"].as_str(), Some(id.as_str()))?;
    let link = format!("{}{keys}", table.name);
    equal("odata.editLink", entity["odata.editLink"].as_str(), Some(link.as_str()))
}
