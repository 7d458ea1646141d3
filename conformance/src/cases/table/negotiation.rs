//! `Accept`, `Content-Type` and `$format`: what is served, what is refused and how.

use serde_json::json;

use crate::expect::ensure;
use crate::request::{FULL, MINIMAL, NONE};
use crate::response::Response;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        plain_json_means_minimal_metadata,
        accept_tolerates_spaces_parameters_and_lists,
        verbose_json_is_not_supported,
        atom_is_not_supported,
        an_absent_accept_is_atom_or_minimal_metadata,
        other_media_types_are_not_supported,
        format_goes_before_accept_on_queries,
        a_format_of_atom_is_not_supported,
        accept_charset_is_ignored,
    }
    InsertEntity {
        atom_bodies_are_not_supported,
        other_bodies_are_not_supported,
        a_body_without_a_type_is_not_supported,
    }
    UpdateEntity {
        writes_without_accept_are_served,
    }
    DeleteEntity {
        deletes_without_accept_are_served,
    }
}

async fn expect_level(response: &Response, level: &str) -> Outcome {
    let content_type = response.expect(200)?.header("Content-Type").unwrap_or_default();
    ensure(content_type.starts_with(level), || format!("expected {level}, got {content_type}"))
}

async fn plain_json_means_minimal_metadata(at: &Session) -> Outcome {
    expect_level(&at.table().await?.query().accept("application/json").send().await?, MINIMAL).await
}

async fn accept_tolerates_spaces_parameters_and_lists(at: &Session) -> Outcome {
    let table = at.table().await?;
    let accepted = [
        ("application/json; odata=minimalmetadata", MINIMAL),
        ("application/json;odata=nometadata;streaming=true", NONE),
        ("application/json; odata=fullmetadata; charset=utf-8", FULL),
        ("application/json;odata=nometadata;type=entry", NONE),
        ("application/json;odata=minimalmetadata, */*", MINIMAL),
        ("application/json;odata=fullmetadata;q=0.9", FULL),
    ];
    for (accept, level) in accepted {
        expect_level(&table.query().accept(accept).send().await?, level).await?;
    }
    Ok(())
}

async fn verbose_json_is_not_supported(at: &Session) -> Outcome {
    let response = at.table().await?.query().accept("application/json;odata=verbose").send().await?;
    response.expect_code(415, "JsonVerboseFormatNotSupported")?;
    Ok(())
}

async fn atom_is_not_supported(at: &Session) -> Outcome {
    let response = at.table().await?.query().accept("application/atom+xml").send().await?;
    response.expect_error(415, "AtomFormatNotSupported", "Atom format is not supported.")?;
    Ok(())
}

/// The service takes it for Atom; a server that responds with JSON disturbs no client.
async fn an_absent_accept_is_atom_or_minimal_metadata(at: &Session) -> Outcome {
    let table = at.table().await?;
    for request in [table.query().without("Accept"), table.query().accept("*/*")] {
        let response = request.send().await?;
        if response.status() == 200 {
            expect_level(&response, MINIMAL).await?;
        } else {
            response.expect_code(415, "AtomFormatNotSupported")?;
        }
    }
    Ok(())
}

async fn other_media_types_are_not_supported(at: &Session) -> Outcome {
    let response = at.table().await?.query().accept("text/html").send().await?;
    let message = "None of the provided media types are supported";
    response.expect_error(415, "MediaTypeNotSupported", message)?;
    Ok(())
}

async fn format_goes_before_accept_on_queries(at: &Session) -> Outcome {
    let table = at.table().await?;
    for level in [NONE, MINIMAL, FULL] {
        let response = table.query().query("$format", level).accept("application/atom+xml").send().await?;
        expect_level(&response, level).await?;
    }
    Ok(())
}

async fn a_format_of_atom_is_not_supported(at: &Session) -> Outcome {
    let response = at.table().await?.query().query("$format", "application/atom+xml").send().await?;
    response.expect_code(415, "AtomFormatNotSupported")?;
    Ok(())
}

async fn accept_charset_is_ignored(at: &Session) -> Outcome {
    let response = at.table().await?.query().header("Accept-Charset", "UTF-8").send().await?;
    expect_level(&response, MINIMAL).await
}

async fn expect_body_refused(at: &Session, content_type: &str, code: &str) -> Outcome {
    let table = at.table().await?;
    let insert = table.insert(json!({ "PartitionKey": "p", "RowKey": "r" })).header("Content-Type", content_type);
    insert.send().await?.expect_code(415, code)?;
    table.expect_rows(&[]).await
}

async fn atom_bodies_are_not_supported(at: &Session) -> Outcome {
    expect_body_refused(at, "application/atom+xml", "AtomFormatNotSupported").await
}

async fn other_bodies_are_not_supported(at: &Session) -> Outcome {
    expect_body_refused(at, "text/plain", "MediaTypeNotSupported").await
}

async fn a_body_without_a_type_is_not_supported(at: &Session) -> Outcome {
    let table = at.table().await?;
    let insert = table.insert(json!({ "PartitionKey": "p", "RowKey": "r" })).without("Content-Type");
    insert.send().await?.expect_code(415, "MediaTypeNotSupported")?;
    table.expect_rows(&[]).await
}

async fn writes_without_accept_are_served(at: &Session) -> Outcome {
    let table = at.table().await?;
    for verb in ["PUT", "MERGE", "PATCH"] {
        table.write(verb, "p", "r", json!({ "A": 1 })).without("Accept").send().await?.expect(204)?;
        table.write(verb, "p", "r", json!({ "A": 1 })).accept("*/*").send().await?.expect(204)?;
    }
    Ok(())
}

async fn deletes_without_accept_are_served(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    table.delete("p", "r").without("Accept").send().await?.expect(204)?;
    Ok(())
}
