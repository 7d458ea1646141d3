//! The `where` expression of Find Blobs by Tags, such as `@container='photos' AND "status"='ready' AND "size">='5'`.

use super::tags::{KEY_CHARS_MAX, Tags, VALUE_CHARS_MAX, is_tag_char};
use crate::{ErrorCode, ServiceError};

/// The pseudo-tag that stands for the blob's container.
const CONTAINER: &str = "@container";

/// Different tags in one expression.
const TAGS_MAX: usize = 10;

/// Conditions that all have to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagQuery {
    container: Option<String>,
    ranges: Vec<TagRange>,
}

/// The values of one tag that an expression admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRange {
    key: String,
    bounds: Bounds,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bounds {
    Equal(String),
    /// Each with whether the bound itself is admitted.
    Between {
        low: Option<(String, bool)>,
        high: Option<(String, bool)>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl TagQuery {
    /// Parses the expression. An error names the place in it.
    pub fn parse(text: &str) -> Result<Self, ServiceError> {
        Parser { text, at: 0 }.query().map_err(|message| {
            ServiceError::with_message(ErrorCode::InvalidQueryParameterValue, message)
                .detail("QueryParameterName", "where")
                .detail("QueryParameterValue", text)
        })
    }

    /// Returns the container that the expression names.
    pub fn container(&self) -> Option<&str> {
        self.container.as_deref()
    }

    /// Returns the tags of the expression, in the order in which they occur. There is at least one.
    pub fn ranges(&self) -> &[TagRange] {
        &self.ranges
    }

    /// Returns whether a blob with these tags meets the expression, whatever its container.
    pub fn admits(&self, tags: &Tags) -> bool {
        self.ranges.iter().all(|range| tags.value(&range.key).is_some_and(|value| range.admits(value)))
    }

    fn add(&mut self, key: String, operator: Operator, value: String) -> Result<(), String> {
        let repeated = "can't have multiple conditions for a single tag unless they define a range";
        if key == CONTAINER {
            if operator != Operator::Equal {
                return Err(format!("unsupported operator for {CONTAINER}"));
            }
            return if self.container.replace(value).is_none() { Ok(()) } else { Err(repeated.to_owned()) };
        }
        let place = self.ranges.iter().position(|range| range.key == key);
        let bounds = match (place.map(|place| &mut self.ranges[place].bounds), operator) {
            (None, Operator::Equal) => Bounds::Equal(value),
            (None, Operator::Less) => Bounds::Between { low: None, high: Some((value, false)) },
            (None, Operator::LessOrEqual) => Bounds::Between { low: None, high: Some((value, true)) },
            (None, Operator::Greater) => Bounds::Between { low: Some((value, false)), high: None },
            (None, Operator::GreaterOrEqual) => Bounds::Between { low: Some((value, true)), high: None },
            (Some(Bounds::Between { high, .. }), Operator::Less | Operator::LessOrEqual) if high.is_none() => {
                *high = Some((value, operator == Operator::LessOrEqual));
                return Ok(());
            }
            (Some(Bounds::Between { low, .. }), Operator::Greater | Operator::GreaterOrEqual) if low.is_none() => {
                *low = Some((value, operator == Operator::GreaterOrEqual));
                return Ok(());
            }
            (Some(_), _) => return Err(repeated.to_owned()),
        };
        self.ranges.push(TagRange { key, bounds });
        Ok(())
    }
}

impl TagRange {
    /// Returns the tag's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the only value that is admitted, if there is only one.
    pub fn equal(&self) -> Option<&str> {
        match &self.bounds {
            Bounds::Equal(value) => Some(value),
            Bounds::Between { .. } => None,
        }
    }

    /// Returns a value that no admitted one is before.
    pub fn lowest(&self) -> &str {
        match &self.bounds {
            Bounds::Equal(value) => value,
            Bounds::Between { low, .. } => low.as_ref().map_or("", |(value, _)| value),
        }
    }

    /// Returns a value that no admitted one is behind, if there is one.
    pub fn highest(&self) -> Option<&str> {
        match &self.bounds {
            Bounds::Equal(value) => Some(value),
            Bounds::Between { high, .. } => high.as_ref().map(|(value, _)| value.as_str()),
        }
    }

    fn admits(&self, value: &str) -> bool {
        match &self.bounds {
            Bounds::Equal(wanted) => value == wanted,
            Bounds::Between { low, high } => {
                let above =
                    low.as_ref().is_none_or(|(low, included)| value > low.as_str() || *included && value == low);
                let below =
                    high.as_ref().is_none_or(|(high, included)| value < high.as_str() || *included && value == high);
                above && below
            }
        }
    }
}

/// An expression that is being read. Everything that it can hold is ASCII, so places are characters.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn query(mut self) -> Result<TagQuery, String> {
        let mut query = TagQuery { container: None, ranges: Vec::new() };
        loop {
            let key = self.key()?;
            let operator = self.operator()?;
            let value = self.value(key == CONTAINER)?;
            query.add(key, operator, value).map_err(|message| self.error(&message))?;
            if query.ranges.len() > TAGS_MAX {
                return Err(format!("Error parsing query: there can be at most {TAGS_MAX} unique tags in a query"));
            }
            self.skip_blanks();
            if self.rest().is_empty() {
                let is_empty = query.ranges.is_empty();
                return if is_empty { Err(self.error("expected a tag")) } else { Ok(query) };
            }
            let word = self.rest().split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            if !word.eq_ignore_ascii_case("and") {
                return Err(self.unexpected());
            }
            self.at += word.len();
        }
    }

    fn key(&mut self) -> Result<String, String> {
        self.skip_blanks();
        let rest = self.rest();
        let (key, taken) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let key = quoted.split_once('"').ok_or_else(|| self.error("expected a closing quote"))?.0;
                (key, key.len() + 2)
            }
            None => {
                let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '@';
                let key = &rest[..rest.find(is_end).unwrap_or(rest.len())];
                (key, key.len())
            }
        };
        let (is_quoted, key) = (taken > key.len(), key.to_owned());
        if key.is_empty() && !is_quoted {
            return Err(self.unexpected());
        }
        if !is_quoted && key.contains('@') {
            if key != CONTAINER {
                return Err(self.error(&format!("unsupported parameter '{key}'")));
            }
        } else if !(1..=KEY_CHARS_MAX).contains(&key.chars().count()) {
            let bounds = format!("tag must be between 1 and {KEY_CHARS_MAX} characters in length");
            return Err(self.error(&bounds));
        } else {
            self.check_chars(&key)?;
        }
        self.at += taken;
        Ok(key)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        self.skip_blanks();
        let found = OPERATORS.iter().find(|(sign, _)| self.rest().starts_with(sign));
        match found {
            Some(_) if self.rest().starts_with("<>") => Err(self.error("unexpected '<>'")),
            Some((sign, operator)) => {
                self.at += sign.len();
                Ok(*operator)
            }
            None => Err(self.error("expected an operator")),
        }
    }

    fn value(&mut self, is_container: bool) -> Result<String, String> {
        self.skip_blanks();
        let quoted = self.rest().strip_prefix('\'').ok_or_else(|| self.error("expecting tag value"))?;
        let value = quoted.split_once('\'').ok_or_else(|| self.error("expected a closing quote"))?.0.to_owned();
        if value.chars().count() > VALUE_CHARS_MAX {
            let bounds = format!("tag value must be between 0 and {VALUE_CHARS_MAX} characters in length");
            return Err(self.error(&bounds));
        }
        if !is_container {
            self.check_chars(&value)?;
        }
        self.at += value.len() + 2;
        Ok(value)
    }

    fn check_chars(&self, text: &str) -> Result<(), String> {
        match text.chars().find(|c| !is_tag_char(*c)) {
            Some(c) => Err(self.error(&format!("'{c}' not permitted in tag name or value"))),
            None => Ok(()),
        }
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn unexpected(&self) -> String {
        match self.rest().split_ascii_whitespace().next() {
            Some(word) => self.error(&format!("unexpected '{word}'")),
            None => self.error("unexpected end of query"),
        }
    }

    /// Places are counted from 1.
    fn error(&self, message: &str) -> String {
        let position = self.text[..self.at].chars().count() + 1;
        format!("Error parsing query at or near character position {position}: {message}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let error = TagQuery::parse(text).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidQueryParameterValue, "{text}");
        error.message.into_owned()
    }

    #[test]
    fn all_conditions_have_to_hold() {
        let tags = Tags::parse_header("status=ready&size=5&a+b=x").unwrap();
        let admits = |text: &str| TagQuery::parse(text).unwrap().admits(&tags);
        assert!(admits("status='ready'"));
        assert!(admits("\"status\" = 'ready' AND \"size\">='5' and size<'6'"));
        assert!(!admits("status='ready' AND size>'5'"));
        assert!(admits("\"a b\"='x'"));
        assert!(!admits("other>=''"));
        let query = TagQuery::parse("@container='photos' AND size>='1' AND size<='4'").unwrap();
        assert_eq!((query.container(), query.ranges().len()), (Some("photos"), 1));
        assert_eq!((query.ranges()[0].lowest(), query.ranges()[0].highest()), ("1", Some("4")));
        assert!(!query.admits(&tags));
    }

    #[test]
    fn an_error_names_the_place() {
        let at = "Error parsing query at or near character position";
        assert_eq!(message("status"), format!("{at} 7: expected an operator"));
        assert_eq!(message("'key 1'='v'"), format!("{at} 1: unexpected ''key'"));
        assert_eq!(message("a='1' OR b='2'"), format!("{at} 7: unexpected 'OR'"));
        assert_eq!(message("a<>'1'"), format!("{at} 2: unexpected '<>'"));
        assert_eq!(message("a=1"), format!("{at} 3: expecting tag value"));
        assert_eq!(message("a='1' and @container1='c'"), format!("{at} 11: unsupported parameter '@container1'"));
        assert!(message("a='1' AND a='2'").ends_with("unless they define a range"));
        assert!(message("a>'1' AND a>='2'").ends_with("unless they define a range"));
        assert!(message("a='é'").ends_with("'é' not permitted in tag name or value"));
        for text in [
            "",
            " ",
            "a='1' AND",
            "@container='c'",
            "@container>'c' AND a='1'",
            "é",
            "(a='1')",
            "a='1",
            "\"a='1'",
            "\"\"='1'",
            "a='1'''",
        ] {
            assert!(message(text).starts_with(at), "{text}");
        }
        let many: Vec<_> = (0..11).map(|n| format!("k{n}='v'")).collect();
        assert_eq!(message(&many.join(" AND ")), "Error parsing query: there can be at most 10 unique tags in a query");
    }
}
