//! Numbers in queries, which every service reads in the same way.

use tablerock_protocol::ServiceError;

/// Reads a number as .NET does: with a sign, and with white space around it. A plus sign that was not encoded is a space.
/// A number that does not fit the type of a parameter is outside of its range, so this one is large.
pub(crate) fn whole_number(name: &str, text: &str) -> Result<i128, ServiceError> {
    let text = text.trim_ascii();
    text.parse().map_err(|_| ServiceError::invalid_parameter(name, text, "The value is not a number."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_a_sign_and_spaces() {
        for (text, number) in
            [("5", 5), (" 5", 5), ("+5 ", 5), ("-1", -1), ("99999999999999999999", 99_999_999_999_999_999_999)]
        {
            assert_eq!(whole_number("timeout", text), Ok(number), "{text:?}");
        }
        for text in ["", " ", "five", "5 5", "5.0"] {
            assert!(whole_number("timeout", text).is_err(), "{text:?}");
        }
    }
}
