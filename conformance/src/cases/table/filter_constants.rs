//! `$filter`: constants, alone and among comparisons, and operands whose types do not fit.

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        a_filter_of_false_finds_nothing,
        a_filter_of_true_finds_everything,
        constants_have_opposites_and_parentheses,
        constants_compare_with_one_another,
        constants_join_comparisons,
        constants_of_different_types_are_refused,
        a_constant_that_is_no_truth_is_refused,
        a_bare_key_is_no_predicate,
        a_key_compares_with_strings_only,
    }
    QueryTables {
        a_filter_of_false_finds_no_tables,
        a_filter_of_true_finds_all_tables,
        table_filters_ignore_the_case_of_names,
    }
}

async fn expect_all(at: &Session, filters: &[(&str, &[&str])]) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["1", "2"]).await?;
    for (filter, rows) in filters {
        table.expect_matching(filter, rows).await?;
    }
    Ok(())
}

/// The health check of ASP.NET asks exactly this.
async fn a_filter_of_false_finds_nothing(at: &Session) -> Outcome {
    expect_all(at, &[("false", &[])]).await
}

async fn a_filter_of_true_finds_everything(at: &Session) -> Outcome {
    expect_all(at, &[("true", &["1", "2"])]).await
}

async fn constants_have_opposites_and_parentheses(at: &Session) -> Outcome {
    expect_all(
        at,
        &[("not true", &[]), ("not false", &["1", "2"]), ("(false)", &[]), ("not (not (true))", &["1", "2"])],
    )
    .await
}

async fn constants_compare_with_one_another(at: &Session) -> Outcome {
    let (all, none): (&[&str], &[&str]) = (&["1", "2"], &[]);
    expect_all(
        at,
        &[
            ("1 eq 1", all),
            ("1 eq 2", none),
            ("2 gt 1", all),
            ("1 eq 1L", all),
            ("1.5 gt 1", all),
            ("'a' lt 'b'", all),
            ("true eq false", none),
        ],
    )
    .await
}

async fn constants_join_comparisons(at: &Session) -> Outcome {
    expect_all(
        at,
        &[
            ("PartitionKey eq 'p' and true", &["1", "2"]),
            ("RowKey eq '1' and false", &[]),
            ("RowKey eq '1' or 1 eq 2", &["1"]),
            ("false or RowKey eq '2'", &["2"]),
            ("not (RowKey eq '2' and true)", &["1"]),
        ],
    )
    .await
}

fn incompatible(left: &str, right: &str, kind: &str) -> String {
    format!(
        "A binary operator with incompatible types was detected. Found operand types '{left}' and '{right}' for operator \
         kind '{kind}'."
    )
}

async fn constants_of_different_types_are_refused(at: &Session) -> Outcome {
    let response = at.table().await?.filter("1 eq 'a'").send().await?;
    response.expect_error(400, "InvalidInput", &incompatible("Edm.Int32", "Edm.String", "Equal"))?;
    Ok(())
}

async fn a_constant_that_is_no_truth_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    for filter in ["1", "'a'", "not 1", "1 and true"] {
        table.filter(filter).send().await?.expect_code(400, "InvalidInput")?;
    }
    Ok(())
}

async fn a_bare_key_is_no_predicate(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.filter("(PartitionKey ) and (RowKey ge '000050')").send().await?;
    response.expect_error(400, "InvalidInput", &incompatible("Edm.String", "Edm.Boolean", "And"))?;
    for filter in ["not PartitionKey", "RowKey", "Timestamp", "RowKey eq 'a' or Timestamp"] {
        table.filter(filter).send().await?.expect_code(400, "InvalidInput")?;
    }
    Ok(())
}

/// Other properties compare with literals of any type, because each entity decides on theirs.
async fn a_key_compares_with_strings_only(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.filter("PartitionKey eq 5").send().await?;
    response.expect_error(400, "InvalidInput", &incompatible("Edm.String", "Edm.Int32", "Equal"))?;
    let response = table.filter("Timestamp ge '2020-01-01'").send().await?;
    response.expect_error(400, "InvalidInput", &incompatible("Edm.DateTime", "Edm.String", "GreaterThanOrEqual"))?;
    Ok(())
}

async fn tables(at: &Session, filter: &str) -> Outcome<Vec<String>> {
    at.get("/Tables").query("$filter", filter).send().await?.column("TableName")
}

async fn a_filter_of_false_finds_no_tables(at: &Session) -> Outcome {
    let table = at.table().await?;
    equal("tables", tables(at, "false").await?.len(), 0)?;
    equal("tables", tables(at, &format!("TableName eq '{}' and 1 eq 2", table.name)).await?.len(), 0)
}

async fn a_filter_of_true_finds_all_tables(at: &Session) -> Outcome {
    let table = at.table().await?;
    equal("tables", tables(at, &format!("true and TableName eq '{}'", table.name)).await?, [table.name.as_str()])
}

async fn table_filters_ignore_the_case_of_names(at: &Session) -> Outcome {
    let prefix = at.unused_name();
    let name = format!("{}x", prefix.to_uppercase());
    at.create(&name).send().await?.expect(201)?;
    for filter in [
        format!("TableName ge '{prefix}' and TableName lt '{prefix}{{'"),
        format!("TableName eq '{prefix}X'"),
        format!("TableName ge '{0}' and TableName le '{0}Z'", prefix.to_uppercase()),
    ] {
        equal(&filter, tables(at, &filter).await?, [name.as_str()])?;
    }
    Ok(())
}
