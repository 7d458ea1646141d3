//! A filter as the text of `$filter`. The text parses to the same tree, whatever the literals
//! hold: no strings are concatenated by hand, and nothing can be injected.

use std::fmt::{self, Display as _, Write as _};

use super::{Comparison, Filter, Operator};
use crate::entity::check_name;
use crate::{PARTITION_KEY, ServiceError, Value};

impl Filter {
    /// Returns the text for `$filter`; an invalid property name is an error.
    pub fn to_text(&self) -> Result<String, ServiceError> {
        self.check_names()?;
        Ok(self.to_string())
    }

    fn check_names(&self) -> Result<(), ServiceError> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().try_for_each(Self::check_names),
            Self::Not(inner) => inner.check_names(),
            Self::Compare(Comparison { property, .. }) | Self::IsTrue(property) => check_name(property),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // No key is less than the empty one, so these hold for all entities and for none.
            Self::And(parts) if parts.is_empty() => write!(f, "{PARTITION_KEY} ge ''"),
            Self::Or(parts) if parts.is_empty() => write!(f, "{PARTITION_KEY} lt ''"),
            Self::And(parts) => write_joined(f, parts, " and "),
            Self::Or(parts) => write_joined(f, parts, " or "),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::Compare(comparison) => comparison.fmt(f),
            Self::IsTrue(property) => f.write_str(property),
        }
    }
}

/// Joins parts, each in parentheses unless it is a leaf, so that precedence does not matter.
fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[Filter], operator: &str) -> fmt::Result {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            f.write_str(operator)?;
        }
        match part {
            Filter::Compare(_) | Filter::IsTrue(_) | Filter::Not(_) => part.fmt(f)?,
            Filter::And(_) | Filter::Or(_) => write!(f, "({part})")?,
        }
    }
    Ok(())
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.property, self.operator.name())?;
        write_literal(f, &self.literal)
    }
}

impl Operator {
    /// As filters spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }
}

fn write_literal(f: &mut fmt::Formatter<'_>, literal: &Value<'_>) -> fmt::Result {
    match literal {
        Value::String(text) => write!(f, "'{}'", text.replace('\'', "''")),
        Value::Int32(number) => number.fmt(f),
        Value::Int64(number) => write!(f, "{number}L"),
        Value::Double(number) => write_double(f, *number),
        Value::Boolean(truth) => truth.fmt(f),
        Value::DateTime(date) => write!(f, "datetime'{date}'"),
        Value::Guid(guid) => write!(f, "guid'{guid}'"),
        Value::Binary(bytes) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_char('\'')
        }
    }
}

/// Always with a point or an exponent, so that it is not an integer.
fn write_double(f: &mut fmt::Formatter<'_>, number: f64) -> fmt::Result {
    match number {
        _ if number.is_nan() => f.write_str("NaN"),
        f64::INFINITY => f.write_str("INF"),
        f64::NEG_INFINITY => f.write_str("-INF"),
        _ => write!(f, "{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DateTime, ErrorCode, Uuid};

    fn compare(property: &str, operator: Operator, literal: impl Into<Value<'static>>) -> Filter {
        Filter::Compare(Comparison { property: property.to_owned(), operator, literal: literal.into() })
    }

    fn round(filter: &Filter) -> Option<Filter> {
        Filter::parse(&filter.to_text().unwrap()).unwrap()
    }

    #[test]
    fn every_literal_parses_back_to_itself() {
        let literals: Vec<Value<'static>> = vec![
            "".into(),
            "o'b' or 1 eq 1 or ''='".into(),
            "日 😀 %27".into(),
            i32::MIN.into(),
            i64::MIN.into(),
            7_i64.into(),
            0.1.into(),
            3.0.into(),
            (-1e300).into(),
            5e-324.into(),
            f64::INFINITY.into(),
            f64::NEG_INFINITY.into(),
            true.into(),
            DateTime::parse("2020-01-02T03:04:05.1234567Z").unwrap().into(),
            Uuid::from_u128(99).into(),
            vec![0_u8, 15, 255].into(),
            Vec::<u8>::new().into(),
        ];
        for literal in literals {
            for operator in [Operator::Eq, Operator::Ne, Operator::Gt, Operator::Ge, Operator::Lt, Operator::Le] {
                let filter = compare("Age", operator, literal.clone());
                assert_eq!(round(&filter).as_ref(), Some(&filter), "{filter}");
            }
        }
    }

    #[test]
    fn trees_keep_their_shape() {
        let (a, b, c) = (compare("a", Operator::Eq, 1), compare("b", Operator::Eq, "x"), Filter::IsTrue("c".into()));
        let trees = [
            Filter::Or(vec![Filter::And(vec![a.clone(), b.clone()]), c.clone()]),
            Filter::And(vec![Filter::Or(vec![a.clone(), b.clone()]), Filter::Not(Box::new(c.clone()))]),
            Filter::Not(Box::new(Filter::Or(vec![a, Filter::Not(Box::new(b)), c]))),
        ];
        for tree in trees {
            assert_eq!(round(&tree), Some(tree));
        }
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        let filter = compare("Age eq 1 or Age", Operator::Gt, 1);
        assert_eq!(filter.to_text().unwrap_err().code, ErrorCode::PropertyNameInvalid);
        assert!(Filter::Not(Box::new(Filter::And(vec![filter]))).to_text().is_err());
    }

    #[test]
    fn nothing_joined_is_everything_or_nothing() {
        assert_eq!(Filter::And(vec![]).to_text().unwrap(), "PartitionKey ge ''");
        assert_eq!(Filter::Or(vec![]).to_text().unwrap(), "PartitionKey lt ''");
    }
}
