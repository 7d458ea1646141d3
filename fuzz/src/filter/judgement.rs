//! The rules of filters once more, as plainly as they can be said: one entity, one tree, no plan.

use std::cmp::Ordering;

use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::{Filter, Value};

use crate::known_table::{KnownEntity, utf16};

pub(super) fn holds(filter: &Filter, entity: &KnownEntity) -> bool {
    match filter {
        Filter::And(parts) => !parts.iter().any(|part| !holds(part, entity)),
        Filter::Or(parts) => parts.iter().any(|part| holds(part, entity)),
        Filter::Not(inner) => !holds(inner, entity),
        Filter::IsTrue(name) => entity.value(name) == Some(&Value::Boolean(true)),
        Filter::Compare(Comparison { property, operator, literal }) => {
            // A property that is missing matches nothing.
            entity.value(property).is_some_and(|value| compare(value, *operator, literal))
        }
    }
}

fn compare(value: &Value<'_>, operator: Operator, literal: &Value<'_>) -> bool {
    if is_other_type(value, literal) {
        return matches!(operator, Operator::Ne | Operator::Lt | Operator::Le);
    }
    let Some(order) = order(value, literal) else { return operator == Operator::Ne };
    match operator {
        Operator::Eq => order == Ordering::Equal,
        Operator::Ne => order != Ordering::Equal,
        Operator::Gt => order == Ordering::Greater,
        Operator::Ge => order != Ordering::Less,
        Operator::Lt => order == Ordering::Less,
        Operator::Le => order != Ordering::Greater,
    }
}

/// A number meets a literal of its own type or of a narrower one.
fn is_other_type(value: &Value<'_>, literal: &Value<'_>) -> bool {
    let width = |value: &Value<'_>| match value {
        Value::Int32(_) => Some(1),
        Value::Int64(_) => Some(2),
        Value::Double(_) => Some(3),
        _ => None,
    };
    match (width(value), width(literal)) {
        (Some(value), Some(literal)) => value < literal,
        _ => value.edm_type() != literal.edm_type(),
    }
}

/// `None` where one side is not a number.
fn order(value: &Value<'_>, literal: &Value<'_>) -> Option<Ordering> {
    let integer = |value: &Value<'_>| match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        _ => None,
    };
    match (value, literal) {
        (Value::String(a), Value::String(b)) => Some(utf16(a, b)),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::DateTime(a), Value::DateTime(b)) => Some(a.ticks().cmp(&b.ticks())),
        (Value::Guid(a), Value::Guid(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Binary(a), Value::Binary(b)) => Some(a.iter().cmp(b.iter())),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Double(a), narrower) => a.partial_cmp(&(integer(narrower)? as f64)),
        _ => Some(integer(value)?.cmp(&integer(literal)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known_table::KnownTable;

    /// How many of the entities, thirty in each of six partitions, a filter holds for, counted by hand.
    #[test]
    fn it_tells_entities_apart() {
        let table = KnownTable::new();
        for (filter, expected) in [
            ("PartitionKey eq 'a'", 30),
            ("RowKey lt '2'", 18),
            ("PartitionKey gt '\u{10000}'", 30),
            ("nothing ne 1 or not (nothing ne 1)", 180),
            ("1 lt 5", 180),
            ("PartitionKey eq 'a' and false", 0),
        ] {
            let parsed = Filter::parse(filter).unwrap().unwrap();
            assert_eq!(table.keys_of(|entity| holds(&parsed, entity)).len(), expected, "{filter}");
        }
    }
}
