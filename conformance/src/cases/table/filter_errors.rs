//! `$filter`: what is refused, and in which words.

use crate::socket::expect_still_serving;
use crate::{Outcome, Session, cases};

cases! {
    QueryEntities {
        a_syntax_error_names_its_position,
        syntax_errors_are_refused,
        operators_are_case_sensitive,
        an_unterminated_string_is_refused,
        an_integer_beyond_int32_is_refused_in_the_words_of_the_service,
        malformed_typed_literals_are_refused,
        functions_are_not_implemented,
        arithmetic_is_not_implemented,
        two_properties_are_not_implemented,
        a_null_literal_is_refused,
        a_filter_that_is_not_utf8_is_refused,
        a_filter_with_broken_escapes_is_refused,
        a_filter_nested_too_deep_is_refused,
    }
}

async fn a_syntax_error_names_its_position(at: &Session) -> Outcome {
    let table = at.table().await?;
    let message = "Syntax error at position 23 in 'property1 eq 1'invalid''.";
    let response = table.filter("property1 eq 1'invalid'").send().await?;
    response.expect_error(400, "InvalidInput", message)?;
    Ok(())
}

async fn expect_refused(at: &Session, filters: &[&str]) -> Outcome {
    let table = at.table().await?;
    for filter in filters {
        table.filter(filter).send().await?.expect_code(400, "InvalidInput")?;
    }
    Ok(())
}

async fn syntax_errors_are_refused(at: &Session) -> Outcome {
    let filters =
        ["A eq", "eq 1", "A eq 1 and", "A eq 1 B eq 2", "(A eq 1", "A eq 1)", "()", "A = 1", "A eq eq 1", "and"];
    expect_refused(at, &filters).await
}

async fn operators_are_case_sensitive(at: &Session) -> Outcome {
    expect_refused(at, &["A EQ 1", "A eq 1 AND A eq 2", "A eq 1 Or A eq 2", "NOT (A eq 1)"]).await
}

async fn an_unterminated_string_is_refused(at: &Session) -> Outcome {
    expect_refused(at, &["A eq 'open", "A eq 'it''s"]).await
}

async fn an_integer_beyond_int32_is_refused_in_the_words_of_the_service(at: &Session) -> Outcome {
    let response = at.table().await?.filter("Stamp eq 1498179600055").send().await?;
    let message = "Unrecognized 'Edm.Int32' literal '1498179600055' at '9' in 'Stamp eq 1498179600055'.";
    response.expect_error(400, "InvalidInput", message)?;
    Ok(())
}

async fn malformed_typed_literals_are_refused(at: &Session) -> Outcome {
    let filters =
        ["A eq datetime'yesterday'", "A eq guid'12'", "A eq X'0G'", "A eq binary'123'", "A eq 99999999999999999999L"];
    expect_refused(at, &filters).await
}

const NOT_IMPLEMENTED: &str = "The requested operation is not implemented on the specified resource.";

async fn expect_not_implemented(at: &Session, filters: &[&str]) -> Outcome {
    let table = at.table().await?;
    for filter in filters {
        table.filter(filter).send().await?.expect_error(501, "NotImplemented", NOT_IMPLEMENTED)?;
    }
    Ok(())
}

async fn functions_are_not_implemented(at: &Session) -> Outcome {
    let filters = ["startswith(A,'x')", "substringof('x',A)", "tolower(A) eq 'x'", "length(A) gt 3"];
    expect_not_implemented(at, &filters).await
}

async fn arithmetic_is_not_implemented(at: &Session) -> Outcome {
    expect_not_implemented(at, &["A add 1 eq 2", "A mod 2 eq 0"]).await
}

async fn two_properties_are_not_implemented(at: &Session) -> Outcome {
    expect_not_implemented(at, &["A eq B", "PartitionKey eq RowKey"]).await
}

async fn a_null_literal_is_refused(at: &Session) -> Outcome {
    let response = at.table().await?.filter("A eq null").send().await?;
    response.expect_error(400, "InvalidInput", "One of the request inputs is not valid.")?;
    Ok(())
}

async fn a_filter_that_is_not_utf8_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.query().raw_query("$filter=A%20eq%20'%FF%FE'").send().await?.expect(400)?;
    expect_still_serving(at).await
}

/// Decoders differ in whether they take `%zz` for itself; a crash is not among the choices.
async fn a_filter_with_broken_escapes_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.query().raw_query("$filter=A%20eq%20%zz").send().await?.expect_refusal()?;
    expect_still_serving(at).await
}

async fn a_filter_nested_too_deep_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let depth = 2000;
    let filter = format!("{}A eq 1{}", "(".repeat(depth), ")".repeat(depth));
    let message = "Recursion depth exceeded allowed limit.";
    table.filter(&filter).send().await?.expect_error(400, "InvalidInput", message)?;
    expect_still_serving(at).await
}
