//! `$filter`: literals of every type, and what happens when types differ.

use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        string_literals_double_their_apostrophes,
        string_literals_take_any_text,
        strings_compare_ordinally,
        int32_literals_may_be_negative,
        int64_literals_take_either_suffix,
        double_literals_come_in_every_form,
        infinities_are_double_literals,
        boolean_literals_compare,
        datetime_literals_compare,
        datetime_literals_have_a_precision_of_100_ns,
        the_timestamp_compares_as_a_date,
        guid_literals_match_in_any_case,
        binary_literals_come_in_two_forms,
        binaries_compare_bytewise,
        an_int32_literal_compares_with_an_int64_property,
        integer_literals_compare_with_a_double_property,
        an_int64_literal_does_not_match_an_int32_property,
        a_double_literal_does_not_match_an_int32_property,
        a_type_mismatch_sorts_the_property_first,
        a_type_mismatch_is_mirrored,
        a_guid_does_not_equal_its_text,
    }
}

/// Rows with one property `X` each, given as JSON members.
async fn with<'s>(at: &'s Session, rows: &[(&str, &str)]) -> Outcome<Table<'s>> {
    let table = at.table().await?;
    table.seed_members(rows).await?;
    Ok(table)
}

async fn expect_all(table: &Table<'_>, filters: &[(&str, &[&str])]) -> Outcome {
    for (filter, rows) in filters {
        table.expect_matching(filter, rows).await?;
    }
    Ok(())
}

async fn string_literals_double_their_apostrophes(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":"it's""#), ("2", r#""X":"'""#), ("3", r#""X":"""#)]).await?;
    expect_all(&table, &[("X eq 'it''s'", &["1"]), ("X eq ''''", &["2"]), ("X eq ''", &["3"])]).await
}

async fn string_literals_take_any_text(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":"a&b+c%d#e=f""#), ("2", r#""X":"é€😀""#), ("3", r#""X":"a and (b)""#)]).await?;
    expect_all(&table, &[("X eq 'a&b+c%d#e=f'", &["1"]), ("X eq 'é€😀'", &["2"]), ("X eq 'a and (b)'", &["3"])]).await
}

async fn strings_compare_ordinally(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":"B""#), ("2", r#""X":"a""#), ("3", r#""X":"é""#)]).await?;
    expect_all(&table, &[("X gt 'Z'", &["2", "3"]), ("X lt 'a'", &["1"]), ("X eq 'A'", &[]), ("X gt 'z'", &["3"])])
        .await
}

async fn int32_literals_may_be_negative(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":-5"#), ("2", r#""X":5"#)]).await?;
    expect_all(&table, &[("X eq -5", &["1"]), ("X gt -6", &["1", "2"]), ("-5 lt X", &["2"])]).await
}

async fn int64_literals_take_either_suffix(at: &Session) -> Outcome {
    let table = with(
        at,
        &[
            ("1", r#""X@odata.type":"Edm.Int64","X":"9223372036854775807""#),
            ("2", r#""X@odata.type":"Edm.Int64","X":"-7""#),
        ],
    )
    .await?;
    expect_all(
        &table,
        &[
            ("X eq 9223372036854775807L", &["1"]),
            ("X eq 9223372036854775807l", &["1"]),
            ("X gt 9223372036854775806L", &["1"]),
            ("X eq -7L", &["2"]),
        ],
    )
    .await
}

async fn double_literals_come_in_every_form(at: &Session) -> Outcome {
    let table =
        with(at, &[("1", r#""X":1.5"#), ("2", r#""X":1e10"#), ("3", r#""X":0.0015"#), ("4", r#""X":3.0"#)]).await?;
    expect_all(
        &table,
        &[
            ("X eq 1.5", &["1"]),
            ("X eq 1e10", &["2"]),
            ("X eq 1.5E-3", &["3"]),
            ("X eq 3D", &["4"]),
            ("X eq 3d", &["4"]),
            ("X lt 1.5", &["3"]),
            ("X gt -1.5", &["1", "2", "3", "4"]),
        ],
    )
    .await
}

async fn infinities_are_double_literals(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":1.5"#), ("2", r#""X@odata.type":"Edm.Double","X":"Infinity""#)]).await?;
    expect_all(&table, &[("X eq INF", &["2"]), ("X gt -INF", &["1", "2"]), ("X lt INF", &["1"])]).await
}

async fn boolean_literals_compare(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":true"#), ("2", r#""X":false"#)]).await?;
    let filters: [(&str, &[&str]); 4] =
        [("X eq true", &["1"]), ("X ne true", &["2"]), ("X lt true", &["2"]), ("false lt X", &["1"])];
    expect_all(&table, &filters).await
}

async fn datetime_literals_compare(at: &Session) -> Outcome {
    let table = with(
        at,
        &[
            ("1", r#""X@odata.type":"Edm.DateTime","X":"2008-07-10T00:00:00Z""#),
            ("2", r#""X@odata.type":"Edm.DateTime","X":"2009-07-10T12:30:00.5Z""#),
        ],
    )
    .await?;
    expect_all(
        &table,
        &[
            ("X eq datetime'2008-07-10T00:00:00Z'", &["1"]),
            ("X eq datetime'2008-07-10T00:00:00'", &["1"]),
            ("X eq datetime'2009-07-10T12:30:00.5000000Z'", &["2"]),
            ("X eq datetime'2009-07-10T14:30:00.5+02:00'", &["2"]),
            ("X gt datetime'2008-07-10T00:00:00Z'", &["2"]),
            ("X ge datetime'2008-07-10T00:00:00.000Z'", &["1", "2"]),
        ],
    )
    .await
}

async fn datetime_literals_have_a_precision_of_100_ns(at: &Session) -> Outcome {
    let table = with(
        at,
        &[
            ("1", r#""X@odata.type":"Edm.DateTime","X":"2008-07-10T00:00:00.1234567Z""#),
            ("2", r#""X@odata.type":"Edm.DateTime","X":"2008-07-10T00:00:00.1234568Z""#),
        ],
    )
    .await?;
    table.expect_matching("X gt datetime'2008-07-10T00:00:00.1234567Z'", &["2"]).await
}

async fn the_timestamp_compares_as_a_date(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["1", "2"]).await?;
    let first = table.stored("p", "1").await?["Timestamp"].as_str().unwrap_or_default().to_owned();
    table.expect_matching(&format!("Timestamp eq datetime'{first}'"), &["1"]).await?;
    table.expect_matching(&format!("Timestamp gt datetime'{first}'"), &["2"]).await?;
    table.expect_matching("Timestamp lt datetime'2000-01-01T00:00:00Z'", &[]).await
}

async fn guid_literals_match_in_any_case(at: &Session) -> Outcome {
    let table = with(
        at,
        &[
            ("1", r#""X@odata.type":"Edm.Guid","X":"a455c695-df98-5678-aaaa-81d3367e5a34""#),
            ("2", r#""X@odata.type":"Edm.Guid","X":"00000000-0000-0000-0000-000000000000""#),
        ],
    )
    .await?;
    expect_all(
        &table,
        &[
            ("X eq guid'a455c695-df98-5678-aaaa-81d3367e5a34'", &["1"]),
            ("X eq guid'A455C695-DF98-5678-AAAA-81D3367E5A34'", &["1"]),
            ("X ne guid'a455c695-df98-5678-aaaa-81d3367e5a34'", &["2"]),
        ],
    )
    .await
}

async fn binary_literals_come_in_two_forms(at: &Session) -> Outcome {
    // 0AFF and nothing.
    let table =
        with(at, &[("1", r#""X@odata.type":"Edm.Binary","X":"Cv8=""#), ("2", r#""X@odata.type":"Edm.Binary","X":"""#)])
            .await?;
    expect_all(
        &table,
        &[("X eq X'0AFF'", &["1"]), ("X eq X'0aff'", &["1"]), ("X eq binary'0AFF'", &["1"]), ("X eq X''", &["2"])],
    )
    .await
}

async fn binaries_compare_bytewise(at: &Session) -> Outcome {
    // 01, 0102 and 80.
    let table = with(
        at,
        &[
            ("1", r#""X@odata.type":"Edm.Binary","X":"AQ==""#),
            ("2", r#""X@odata.type":"Edm.Binary","X":"AQI=""#),
            ("3", r#""X@odata.type":"Edm.Binary","X":"gA==""#),
        ],
    )
    .await?;
    expect_all(&table, &[("X gt X'01'", &["2", "3"]), ("X lt X'7F'", &["1", "2"])]).await
}

async fn an_int32_literal_compares_with_an_int64_property(at: &Session) -> Outcome {
    let table =
        with(at, &[("1", r#""X@odata.type":"Edm.Int64","X":"9""#), ("2", r#""X@odata.type":"Edm.Int64","X":"12""#)])
            .await?;
    expect_all(&table, &[("X gt 10", &["2"]), ("X eq 9", &["1"]), ("10 gt X", &["1"])]).await
}

async fn integer_literals_compare_with_a_double_property(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":9.5"#), ("2", r#""X":12.0"#)]).await?;
    expect_all(&table, &[("X gt 10", &["2"]), ("X eq 12", &["2"]), ("X eq 12L", &["2"]), ("X lt 10L", &["1"])]).await
}

async fn an_int64_literal_does_not_match_an_int32_property(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":3"#)]).await?;
    expect_all(&table, &[("X eq 3L", &[]), ("X ne 3L", &["1"])]).await
}

async fn a_double_literal_does_not_match_an_int32_property(at: &Session) -> Outcome {
    let table = with(at, &[("1", r#""X":3"#)]).await?;
    expect_all(&table, &[("X eq 3.0", &[]), ("X ne 3.0", &["1"])]).await
}

const MIXED: &[(&str, &str)] = &[
    ("1", r#""X":"text""#),
    ("2", r#""X":true"#),
    ("3", r#""X@odata.type":"Edm.Guid","X":"a455c695-df98-5678-aaaa-81d3367e5a34""#),
];

async fn a_type_mismatch_sorts_the_property_first(at: &Session) -> Outcome {
    let all: &[&str] = &["1", "2", "3"];
    let table = with(at, MIXED).await?;
    let filters: [(&str, &[&str]); 6] =
        [("X eq 5", &[]), ("X ne 5", all), ("X lt 5", all), ("X le 5", all), ("X gt 5", &[]), ("X ge 5", &[])];
    expect_all(&table, &filters).await
}

async fn a_type_mismatch_is_mirrored(at: &Session) -> Outcome {
    let all: &[&str] = &["1", "2", "3"];
    let table = with(at, MIXED).await?;
    let filters: [(&str, &[&str]); 6] =
        [("5 eq X", &[]), ("5 ne X", all), ("5 gt X", all), ("5 ge X", all), ("5 lt X", &[]), ("5 le X", &[])];
    expect_all(&table, &filters).await
}

async fn a_guid_does_not_equal_its_text(at: &Session) -> Outcome {
    let table = with(at, MIXED).await?;
    table.expect_matching("X eq 'a455c695-df98-5678-aaaa-81d3367e5a34'", &[]).await?;
    table.expect_matching("X eq guid'a455c695-df98-5678-aaaa-81d3367e5a34'", &["3"]).await
}
