//! Identifiers as C# has them, which names of properties are: by the general category of each character.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether an identifier can begin with the character: a letter, a number made of letters such as `Ⅷ`, or an underscore.
pub(crate) fn is_start(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphabetic() || letter == '_';
    }
    use GeneralCategory::*;
    matches!(
        letter.general_category(),
        UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter | LetterNumber
    )
}

/// Whether an identifier can go on with the character: also a combining mark, a digit, a connector such as `‿`, or a
/// format character such as the joiners of Indic scripts.
pub(crate) fn is_part(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric() || letter == '_';
    }
    use GeneralCategory::*;
    is_start(letter)
        || matches!(
            letter.general_category(),
            NonspacingMark | SpacingMark | DecimalNumber | ConnectorPunctuation | Format
        )
}
