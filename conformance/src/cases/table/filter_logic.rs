//! `$filter`: operators, precedence, and where a property may stand.

use serde_json::json;

use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        every_comparison_operator_compares,
        constants_may_stand_on_the_left,
        and_binds_tighter_than_or,
        not_binds_tighter_than_and,
        not_may_stand_before_a_comparison,
        not_needs_no_space_before_a_parenthesis,
        not_not_is_the_thing_itself,
        parentheses_group,
        operands_may_be_parenthesised,
        a_bare_boolean_property_is_a_predicate,
        a_bare_property_of_another_type_matches_nothing,
        a_missing_property_matches_no_comparison,
        not_of_a_missing_property_matches,
        property_names_are_case_sensitive,
        property_names_may_be_unicode,
        keys_compare_as_strings,
        keys_select_ranges,
        a_filter_may_hold_many_comparisons,
        surplus_spaces_are_ignored,
    }
}

/// Rows 1 to 4 with `N` of the same number, `B` true for even ones, and `T` on row 4 only.
async fn numbers(at: &Session) -> Outcome<Table<'_>> {
    let table = at.table().await?;
    for n in 1..=4 {
        let mut entity = json!({ "PartitionKey": "p", "RowKey": n.to_string(), "N": n, "B": n % 2 == 0 });
        if n == 4 {
            entity["T"] = json!("only here");
        }
        table.seed(entity).await?;
    }
    Ok(table)
}

async fn expect_all(at: &Session, filters: &[(&str, &[&str])]) -> Outcome {
    let table = numbers(at).await?;
    for (filter, rows) in filters {
        table.expect_matching(filter, rows).await?;
    }
    Ok(())
}

async fn every_comparison_operator_compares(at: &Session) -> Outcome {
    expect_all(
        at,
        &[
            ("N eq 2", &["2"]),
            ("N ne 2", &["1", "3", "4"]),
            ("N gt 2", &["3", "4"]),
            ("N ge 2", &["2", "3", "4"]),
            ("N lt 2", &["1"]),
            ("N le 2", &["1", "2"]),
        ],
    )
    .await
}

async fn constants_may_stand_on_the_left(at: &Session) -> Outcome {
    expect_all(
        at,
        &[
            ("2 eq N", &["2"]),
            ("2 ne N", &["1", "3", "4"]),
            ("2 gt N", &["1"]),
            ("2 ge N", &["1", "2"]),
            ("2 lt N", &["3", "4"]),
            ("2 le N", &["2", "3", "4"]),
            ("'3' eq RowKey", &["3"]),
        ],
    )
    .await
}

async fn and_binds_tighter_than_or(at: &Session) -> Outcome {
    expect_all(
        at,
        &[
            ("N eq 1 or N eq 2 and N eq 3", &["1"]),
            ("N eq 3 and N eq 2 or N eq 1", &["1"]),
            ("(N eq 1 or N eq 2) and N eq 3", &[]),
        ],
    )
    .await
}

async fn not_binds_tighter_than_and(at: &Session) -> Outcome {
    expect_all(
        at,
        &[
            ("not (N eq 1) and N lt 3", &["2"]),
            ("not (N eq 1 and N lt 3)", &["2", "3", "4"]),
            ("N lt 3 and not (N eq 1)", &["2"]),
        ],
    )
    .await
}

async fn not_may_stand_before_a_comparison(at: &Session) -> Outcome {
    expect_all(at, &[("not N eq 1", &["2", "3", "4"])]).await
}

async fn not_needs_no_space_before_a_parenthesis(at: &Session) -> Outcome {
    expect_all(at, &[("not(N eq 1)", &["2", "3", "4"])]).await
}

async fn not_not_is_the_thing_itself(at: &Session) -> Outcome {
    expect_all(at, &[("not (not (N eq 1))", &["1"]), ("not not (N eq 1)", &["1"])]).await
}

async fn parentheses_group(at: &Session) -> Outcome {
    expect_all(at, &[("((N eq 1) or ((N eq 2) and (B eq true)))", &["1", "2"]), ("(((N gt 3)))", &["4"])]).await
}

async fn operands_may_be_parenthesised(at: &Session) -> Outcome {
    expect_all(at, &[("(N) eq (2)", &["2"])]).await
}

async fn a_bare_boolean_property_is_a_predicate(at: &Session) -> Outcome {
    expect_all(at, &[("B", &["2", "4"]), ("not B", &["1", "3"]), ("B and N gt 2", &["4"])]).await
}

async fn a_bare_property_of_another_type_matches_nothing(at: &Session) -> Outcome {
    expect_all(at, &[("N", &[]), ("Missing", &[])]).await
}

async fn a_missing_property_matches_no_comparison(at: &Session) -> Outcome {
    expect_all(
        at,
        &[
            ("T eq 'only here'", &["4"]),
            ("T ne 'only here'", &[]),
            ("T ne 'other'", &["4"]),
            ("T lt 'z'", &["4"]),
            ("T gt 'a'", &["4"]),
            ("Missing eq 1 or N eq 1", &["1"]),
        ],
    )
    .await
}

async fn not_of_a_missing_property_matches(at: &Session) -> Outcome {
    expect_all(at, &[("not (T eq 'only here')", &["1", "2", "3"]), ("not (T ne 'other')", &["1", "2", "3"])]).await
}

async fn property_names_are_case_sensitive(at: &Session) -> Outcome {
    expect_all(at, &[("n eq 1", &[]), ("N eq 1", &["1"])]).await
}

async fn property_names_may_be_unicode(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "größe": 5, "_under": 6 })).await?;
    table.expect_matching("größe eq 5", &["r"]).await?;
    table.expect_matching("_under eq 6", &["r"]).await
}

async fn keys_compare_as_strings(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["B", "a", "a1", "b"]).await?;
    table.expect_matching("RowKey gt 'B'", &["a", "a1", "b"]).await?;
    table.expect_matching("RowKey ge 'a' and RowKey lt 'b'", &["a", "a1"]).await?;
    table.expect_matching("RowKey eq 'A'", &[]).await
}

async fn keys_select_ranges(at: &Session) -> Outcome {
    let table = at.table().await?;
    for partition in ["a", "b", "c"] {
        for row in ["1", "2"] {
            table.seed(json!({ "PartitionKey": partition, "RowKey": format!("{partition}{row}") })).await?;
        }
    }
    table.expect_matching("PartitionKey eq 'b'", &["b1", "b2"]).await?;
    table.expect_matching("PartitionKey gt 'a' and PartitionKey le 'c'", &["b1", "b2", "c1", "c2"]).await?;
    table.expect_matching("PartitionKey eq 'a' or PartitionKey eq 'c'", &["a1", "a2", "c1", "c2"]).await?;
    table.expect_matching("PartitionKey eq 'a' and RowKey gt 'a1'", &["a2"]).await?;
    table.expect_matching("PartitionKey ne 'b'", &["a1", "a2", "c1", "c2"]).await
}

async fn a_filter_may_hold_many_comparisons(at: &Session) -> Outcome {
    let filter = (0..40).map(|n| format!("N eq {n}")).collect::<Vec<_>>().join(" or ");
    numbers(at).await?.expect_matching(&filter, &["1", "2", "3", "4"]).await
}

async fn surplus_spaces_are_ignored(at: &Session) -> Outcome {
    expect_all(at, &[("  N   eq   2  ", &["2"]), ("( N eq 2 )", &["2"])]).await
}
