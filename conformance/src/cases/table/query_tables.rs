//! Query Tables: shapes, filters, paging; and the single table resource.

use crate::encode::percent;
use crate::expect::{ensure, equal};
use crate::request::{FULL, NONE};
use crate::{Outcome, Session, cases};

cases! {
    QueryTables {
        tables_are_listed_with_minimal_metadata,
        tables_are_listed_without_metadata,
        tables_are_listed_with_full_metadata,
        table_filters_compare_names,
        table_filters_take_the_usual_prefix_range,
        table_filters_combine,
        tables_are_sorted_without_regard_to_case,
        tables_are_paged_to_the_end,
        the_table_continuation_has_the_form_of_the_service,
        a_table_top_of_0_is_an_empty_list,
        a_table_top_out_of_range_is_refused,
        a_table_filter_on_another_property_is_refused,
        a_table_filter_with_a_function_is_not_implemented,
        a_table_filter_with_a_syntax_error_is_refused,
        no_tables_is_an_empty_list,
    }
    QueryTable {
        one_table_is_a_resource,
        one_table_is_found_in_any_case,
        a_missing_table_resource_is_not_found,
    }
}

async fn tables_are_listed_with_minimal_metadata(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    let response = at.get("/Tables").query("$filter", &format!("TableName eq '{}'", table.name)).send().await?;
    let name = &table.name;
    response.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#Tables","value":[{{"TableName":"{name}"}}]}}"#
    ))?;
    Ok(())
}

async fn tables_are_listed_without_metadata(at: &Session) -> Outcome {
    let table = at.table().await?;
    let request = at.get("/Tables").query("$filter", &format!("TableName eq '{}'", table.name));
    let body = format!(r#"{{"value":[{{"TableName":"{}"}}]}}"#, table.name);
    request.accept(NONE).send().await?.expect(200)?.expect_body(&body)?;
    Ok(())
}

async fn tables_are_listed_with_full_metadata(at: &Session) -> Outcome {
    let (base, account, table) = (at.base(), &at.target().account, at.table().await?);
    let name = &table.name;
    let request = at.get("/Tables").query("$filter", &format!("TableName eq '{name}'")).accept(FULL);
    request.send().await?.expect(200)?.expect_body(&format!(
        r#"{{"odata.metadata":"{base}/$metadata#Tables","value":[{{"odata.type":"{account}.Tables","odata.id":"{base}/Tables('{name}')","odata.editLink":"Tables('{name}')","TableName":"{name}"}}]}}"#
    ))?;
    Ok(())
}

/// Tables whose names share a prefix of this case's own.
async fn family(at: &Session, endings: &[&str]) -> Outcome<String> {
    let prefix = at.unused_name();
    for ending in endings {
        at.create(&format!("{prefix}{ending}")).send().await?.expect(201)?;
    }
    Ok(prefix)
}

async fn names(at: &Session, filter: &str, prefix: &str) -> Outcome<Vec<String>> {
    let found = at.get("/Tables").query("$filter", filter).send().await?.column("TableName")?;
    Ok(found.into_iter().filter_map(|name| name.strip_prefix(prefix).map(str::to_owned)).collect())
}

async fn table_filters_compare_names(at: &Session) -> Outcome {
    let prefix = family(at, &["a", "b", "c"]).await?;
    let range = format!("TableName ge '{prefix}' and TableName lt '{prefix}z'");
    let expected: [(&str, &[&str]); 6] =
        [("eq", &["b"]), ("ne", &["a", "c"]), ("gt", &["c"]), ("ge", &["b", "c"]), ("lt", &["a"]), ("le", &["a", "b"])];
    for (operator, endings) in expected {
        let filter = format!("{range} and TableName {operator} '{prefix}b'");
        equal(&filter, names(at, &filter, &prefix).await?, endings)?;
    }
    Ok(())
}

async fn table_filters_take_the_usual_prefix_range(at: &Session) -> Outcome {
    let prefix = family(at, &["a", "b"]).await?;
    // Legacy clients write the upper bound with the character that follows `z`.
    let filter = format!("TableName ge '{prefix}' and TableName lt '{prefix}{{'");
    equal("names", names(at, &filter, &prefix).await?, ["a", "b"])
}

async fn table_filters_combine(at: &Session) -> Outcome {
    let prefix = family(at, &["a", "b", "c"]).await?;
    let filter = format!("(TableName eq '{prefix}a' or '{prefix}c' eq TableName) and not (TableName eq '{prefix}c')");
    equal("names", names(at, &filter, &prefix).await?, ["a"])
}

async fn tables_are_sorted_without_regard_to_case(at: &Session) -> Outcome {
    let prefix = family(at, &["B", "a", "C"]).await?;
    let filter = format!("TableName ge '{prefix}' and TableName lt '{prefix}{{'");
    equal("names", names(at, &filter, &prefix).await?, ["a", "B", "C"])
}

async fn tables_are_paged_to_the_end(at: &Session) -> Outcome {
    let prefix = family(at, &["a", "b", "c", "d", "e"]).await?;
    let filter = format!("TableName ge '{prefix}' and TableName lt '{prefix}z'");
    let (mut found, mut next, mut pages) = (Vec::new(), None::<String>, 0);
    loop {
        let mut request = at.get("/Tables").query("$filter", &filter).query("$top", "2");
        if let Some(token) = &next {
            request = request.raw_query(&format!("NextTableName={}", percent(token)));
        }
        let response = request.send().await?;
        found.extend(response.column("TableName")?);
        pages += 1;
        next = response.header("x-ms-continuation-NextTableName").map(str::to_owned);
        if next.is_none() {
            break;
        }
        ensure(pages < 20, || "the pages do not end".to_owned())?;
    }
    let expected: Vec<String> = ["a", "b", "c", "d", "e"].iter().map(|ending| format!("{prefix}{ending}")).collect();
    equal("tables of all pages", found, expected)
}

async fn the_table_continuation_has_the_form_of_the_service(at: &Session) -> Outcome {
    let prefix = family(at, &["a", "b"]).await?;
    let filter = format!("TableName ge '{prefix}' and TableName lt '{prefix}z'");
    let response = at.get("/Tables").query("$filter", &filter).query("$top", "1").send().await?;
    let token = response.expect(200)?.header("x-ms-continuation-NextTableName").unwrap_or_default();
    let fields: Vec<&str> = token.splitn(3, '!').collect();
    let well_formed = fields.len() == 3 && fields[0] == "1" && fields[1].parse() == Ok(fields[2].len());
    ensure(well_formed && !token.contains('='), || format!("expected 1!n!text of n characters, got {token:?}"))
}

async fn a_table_top_of_0_is_an_empty_list(at: &Session) -> Outcome {
    let _table = at.table().await?;
    equal("tables", at.get("/Tables").query("$top", "0").send().await?.items()?.len(), 0)
}

async fn a_table_top_out_of_range_is_refused(at: &Session) -> Outcome {
    for top in ["-1", "1001", "many"] {
        let response = at.get("/Tables").query("$top", top).send().await?;
        response.expect_error(400, "InvalidInput", "One of the request inputs is not valid.")?;
    }
    Ok(())
}

async fn a_table_filter_on_another_property_is_refused(at: &Session) -> Outcome {
    let response = at.get("/Tables").query("$filter", "Name eq 'x'").send().await?;
    response.expect_any_code(&[(400, "InvalidInput"), (500, "InternalError"), (501, "NotImplemented")])?;
    Ok(())
}

async fn a_table_filter_with_a_function_is_not_implemented(at: &Session) -> Outcome {
    let response = at.get("/Tables").query("$filter", "startswith(TableName,'a')").send().await?;
    response.expect_code(501, "NotImplemented")?;
    Ok(())
}

async fn a_table_filter_with_a_syntax_error_is_refused(at: &Session) -> Outcome {
    at.get("/Tables").query("$filter", "TableName eq").send().await?.expect_code(400, "InvalidInput")?;
    Ok(())
}

async fn no_tables_is_an_empty_list(at: &Session) -> Outcome {
    let filter = format!("TableName eq '{}'", at.unused_name());
    equal("tables", at.get("/Tables").query("$filter", &filter).send().await?.items()?.len(), 0)
}

async fn one_table_is_a_resource(at: &Session) -> Outcome {
    let (base, table) = (at.base(), at.table().await?);
    let response = at.get(format!("/Tables('{}')", table.name)).send().await?;
    let name = &table.name;
    response.expect(200)?;
    response
        .expect_body(&format!(r#"{{"odata.metadata":"{base}/$metadata#Tables/@Element","TableName":"{name}"}}"#))?;
    Ok(())
}

async fn one_table_is_found_in_any_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    let found = at.get(format!("/Tables('{}')", table.name.to_uppercase())).send().await?.expect(200)?.json()?;
    let name = found["TableName"].as_str().unwrap_or_default();
    ensure(name.eq_ignore_ascii_case(&table.name), || format!("TableName {name:?}"))
}

async fn a_missing_table_resource_is_not_found(at: &Session) -> Outcome {
    let response = at.get(format!("/Tables('{}')", at.unused_name())).send().await?;
    response.expect_error(404, "ResourceNotFound", "The specified resource does not exist.")?;
    Ok(())
}
