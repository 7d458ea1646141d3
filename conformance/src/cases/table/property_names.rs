//! The names that a property may have: identifiers as C# has them.

use serde_json::json;

use crate::{Outcome, Session, cases};

cases! {
    InsertEntity {
        letters_marks_and_digits_of_all_scripts_make_a_name,
        numbers_that_are_no_digits_make_no_name,
        a_name_begins_with_a_letter_or_an_underscore,
    }
    QueryEntities {
        a_filter_takes_the_names_that_an_entity_takes,
    }
}

/// Thai, Hindi and decomposed Latin have combining marks; then an Arabic digit, a connector, a format character, a
/// Roman numeral.
const NAMES: [&str; 8] = ["ชื่อ", "नाम_हिन्दी", "e\u{301}te\u{301}", "x\u{664}", "a\u{203f}b", "a\u{200d}b", "Ⅷ", "_"];

async fn letters_marks_and_digits_of_all_scripts_make_a_name(at: &Session) -> Outcome {
    let table = at.table().await?;
    for (row, name) in NAMES.iter().enumerate() {
        let entity = json!({ "PartitionKey": "p", "RowKey": row.to_string(), *name: 1 });
        table.insert(entity).send().await?.expect(201)?;
    }
    Ok(())
}

async fn expect_refused(at: &Session, names: &[&str]) -> Outcome {
    let table = at.table().await?;
    for name in names {
        let entity = json!({ "PartitionKey": "p", "RowKey": "r", *name: 1 });
        table.insert(entity).send().await?.expect_code(400, "PropertyNameInvalid")?;
    }
    Ok(())
}

async fn numbers_that_are_no_digits_make_no_name(at: &Session) -> Outcome {
    expect_refused(at, &["x²", "x½", "x①", "a+b", "a€"]).await
}

async fn a_name_begins_with_a_letter_or_an_underscore(at: &Session) -> Outcome {
    expect_refused(at, &["\u{301}a", "1a", "\u{203f}a", "\u{200d}a", "\u{664}a"]).await
}

async fn a_filter_takes_the_names_that_an_entity_takes(at: &Session) -> Outcome {
    let table = at.table().await?;
    for (row, name) in NAMES.iter().enumerate() {
        let row = row.to_string();
        table.seed(json!({ "PartitionKey": "p", "RowKey": row, *name: 7 })).await?;
        table.expect_matching(&format!("{name} eq 7"), &[&row]).await?;
    }
    table.filter("x² eq 7").send().await?.expect_code(400, "InvalidInput")?;
    Ok(())
}
