//! A filter against an entity: the service's two-valued logic and its rules on types.

use std::cmp::Ordering;

use super::ast::{Comparison, Filter, Operator};
use crate::{Value, compare_utf16};

/// An entity as a filter sees it: system properties by their names among the others.
pub trait Row {
    /// Returns the value of a property, if the row has it.
    fn value(&self, property: &str) -> Option<Value<'_>>;
}

impl Filter {
    /// Returns whether the row satisfies the filter.
    pub fn matches(&self, row: &impl Row) -> bool {
        match self {
            Filter::And(parts) => parts.iter().all(|part| part.matches(row)),
            Filter::Or(parts) => parts.iter().any(|part| part.matches(row)),
            Filter::Not(inner) => !inner.matches(row),
            Filter::Compare(comparison) => comparison.matches(row),
            Filter::IsTrue(name) => matches!(row.value(name), Some(Value::Boolean(true))),
        }
    }
}

impl Comparison {
    /// A missing property matches nothing, not even `ne`.
    fn matches(&self, row: &impl Row) -> bool {
        row.value(&self.property).is_some_and(|value| self.holds_for(&value))
    }

    /// Whether the comparison holds for a value of the property.
    pub fn holds_for(&self, value: &Value<'_>) -> bool {
        match order(value, &self.literal) {
            Order::Known(ordering) => match self.operator {
                Operator::Eq => ordering.is_eq(),
                Operator::Ne => ordering.is_ne(),
                Operator::Gt => ordering.is_gt(),
                Operator::Ge => ordering.is_ge(),
                Operator::Lt => ordering.is_lt(),
                Operator::Le => ordering.is_le(),
            },
            Order::NotANumber => self.operator == Operator::Ne,
            // As if a property of another type sorted before every literal.
            Order::OtherType => matches!(self.operator, Operator::Ne | Operator::Lt | Operator::Le),
        }
    }
}

enum Order {
    Known(Ordering),
    NotANumber,
    OtherType,
}

/// Integers widen one way only: an Int64 or Double property meets a narrower literal as a number, while a
/// narrower property against a wider literal is a mismatch of types.
fn order(value: &Value<'_>, literal: &Value<'_>) -> Order {
    Order::Known(match (value, literal) {
        (Value::String(a), Value::String(b)) => compare_utf16(a, b),
        (Value::Int32(a), Value::Int32(b)) => a.cmp(b),
        (Value::Int64(a), Value::Int64(b)) => a.cmp(b),
        (Value::Int64(a), Value::Int32(b)) => a.cmp(&i64::from(*b)),
        (Value::Double(a), Value::Double(b)) => return order_doubles(*a, *b),
        (Value::Double(a), Value::Int32(b)) => return order_doubles(*a, f64::from(*b)),
        (Value::Double(a), Value::Int64(b)) => return order_doubles(*a, *b as f64),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
        (Value::Guid(a), Value::Guid(b)) => a.cmp(b),
        (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
        _ => return Order::OtherType,
    })
}

fn order_doubles(a: f64, b: f64) -> Order {
    a.partial_cmp(&b).map_or(Order::NotANumber, Order::Known)
}
