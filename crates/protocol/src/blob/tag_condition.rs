//! `x-ms-if-tags`: a condition on index tags, such as `"status" = 'ready' AND "size" > '5'`.

use super::Tags;
use crate::{ErrorCode, ServiceError};

/// Comparisons in one condition, which bounds what a stranger can make us do.
const COMPARISONS_MAX: usize = 10;

/// Alternatives, each of comparisons that all have to hold: `AND` binds closer than `OR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCondition {
    alternatives: Vec<Vec<Comparison>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Comparison {
    key: String,
    operator: Operator,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("<>", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl TagCondition {
    /// Parses the header.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        let invalid = || ServiceError::new(ErrorCode::InvalidHeaderValue);
        let mut alternatives = vec![Vec::new()];
        let mut rest = header.trim();
        for _ in 0..COMPARISONS_MAX {
            let (comparison, after) = comparison(rest).ok_or_else(invalid)?;
            alternatives.last_mut().expect("there is always one").push(comparison);
            rest = after.trim_start();
            if rest.is_empty() {
                return Ok(Self { alternatives });
            }
            if let Some(after) = word(rest, "AND") {
                rest = after;
            } else {
                rest = word(rest, "OR").ok_or_else(invalid)?;
                alternatives.push(Vec::new());
            }
        }
        Err(invalid())
    }

    /// Whether a blob with these tags meets the condition. A tag that is not there meets no comparison but `<>`.
    pub fn admits(&self, tags: &Tags) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|comparison| comparison.admits(tags)))
    }
}

impl Comparison {
    fn admits(&self, tags: &Tags) -> bool {
        let Some(value) = tags.value(&self.key) else { return self.operator == Operator::NotEqual };
        match self.operator {
            Operator::Equal => value == self.value,
            Operator::NotEqual => value != self.value,
            Operator::Less => *value < *self.value,
            Operator::LessOrEqual => *value <= *self.value,
            Operator::Greater => *value > *self.value,
            Operator::GreaterOrEqual => *value >= *self.value,
        }
    }
}

fn comparison(text: &str) -> Option<(Comparison, &str)> {
    let (key, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?),
    };
    let rest = rest.trim_start();
    let (sign, operator) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign))?;
    let (value, rest) = rest[sign.len()..].trim_start().strip_prefix('\'')?.split_once('\'')?;
    let comparison = Comparison { key: key.to_owned(), operator: *operator, value: value.to_owned() };
    (!key.is_empty()).then_some((comparison, rest))
}

fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_once(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_joined_by_and_before_or() {
        let tags = Tags::parse_header("status=ready&size=5").unwrap();
        let admits = |header: &str| TagCondition::parse(header).unwrap().admits(&tags);
        assert!(admits("\"status\" = 'ready'"));
        assert!(admits("status='ready' AND \"size\" >= '5'"));
        assert!(!admits("status='ready' AND \"size\" > '5'"));
        assert!(admits("\"x\" = '1' AND \"size\" > '5' or \"status\" <> 'old'"));
        assert!(!admits("\"x\" = ''"));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let long = "\"a\" = 'b' AND ".repeat(20) + "\"a\" = 'b'";
        for header in ["", "a", "a = b", "= 'b'", "\"a\" = 'b' XOR \"c\" = 'd'", "\"a\" = 'b' AND", &long] {
            assert_eq!(TagCondition::parse(header).unwrap_err().code, ErrorCode::InvalidHeaderValue, "{header}");
        }
    }
}
