//! Parts of a filter while it is parsed: their types, and the value of those that have no property.
//!
//! Types are checked as the service's OData library does, in its words. An open property fits everything.

use super::ast::{Comparison, Filter, Operator};
use super::schema::Schema;
use crate::{EdmType, ErrorCode, ServiceError, Value};

/// A parsed part of the text; parentheses may surround an operand as well as a predicate.
#[derive(Debug)]
pub(super) enum Expression {
    /// Depends on the entity.
    Predicate(Filter),
    Property(String),
    /// A literal, or an expression of literals.
    Constant(Value<'static>),
}

/// `and` or `or`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connective {
    And,
    Or,
}

impl Connective {
    pub(super) const fn keyword(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
        }
    }

    const fn kind(self) -> &'static str {
        match self {
            Self::And => "And",
            Self::Or => "Or",
        }
    }

    /// The constant that decides the whole, whatever the other parts are. The other one changes nothing.
    const fn deciding(self) -> bool {
        matches!(self, Self::Or)
    }
}

impl Expression {
    /// The whole text as a filter. A constant is the filter of everything or of nothing.
    pub(super) fn into_filter(self, schema: Schema) -> Result<Filter, ServiceError> {
        if !is_truth(self.edm_type(schema)) {
            return Err(type_error("The $filter expression must evaluate to a single boolean value.".to_owned()));
        }
        Ok(match self {
            Self::Constant(Value::Boolean(true)) => Filter::And(vec![]),
            Self::Constant(_) => Filter::Or(vec![]),
            Self::Property(name) => Filter::IsTrue(name),
            Self::Predicate(filter) => filter,
        })
    }

    /// Joins two parts or more.
    pub(super) fn join(connective: Connective, parts: Vec<Self>, schema: Schema) -> Result<Self, ServiceError> {
        let mut left = parts[0].edm_type(schema);
        for part in &parts[1..] {
            let right = part.edm_type(schema);
            if !is_truth(left) || !is_truth(right) {
                return Err(binary_error(left, right, connective.kind()));
            }
            left = Some(EdmType::Boolean);
        }
        let mut filters = Vec::with_capacity(parts.len());
        let mut is_decided = false;
        for part in parts {
            match part {
                Self::Constant(value) => is_decided |= value == Value::Boolean(connective.deciding()),
                Self::Property(name) => filters.push(Filter::IsTrue(name)),
                Self::Predicate(filter) => filters.push(filter),
            }
        }
        if is_decided || filters.is_empty() {
            return Ok(Self::Constant(Value::Boolean(is_decided == connective.deciding())));
        }
        Ok(Self::Predicate(match (filters.len(), connective) {
            (1, _) => filters.swap_remove(0),
            (_, Connective::And) => Filter::And(filters),
            (_, Connective::Or) => Filter::Or(filters),
        }))
    }

    pub(super) fn negate(self, schema: Schema) -> Result<Self, ServiceError> {
        let edm = self.edm_type(schema);
        if !is_truth(edm) {
            return Err(type_error(format!(
                "A unary operator with an incompatible type was detected. Found operand type '{}' for operator kind 'Not'.",
                name(edm)
            )));
        }
        Ok(match self {
            Self::Constant(value) => Self::Constant(Value::Boolean(value == Value::Boolean(false))),
            Self::Property(name) => Self::Predicate(Filter::Not(Box::new(Filter::IsTrue(name)))),
            Self::Predicate(filter) => Self::Predicate(Filter::Not(Box::new(filter))),
        })
    }

    pub(super) fn compare(self, operator: Operator, right: Self, schema: Schema) -> Result<Self, ServiceError> {
        let types = (self.edm_type(schema), right.edm_type(schema));
        let compared =
            |property, operator, literal| Self::Predicate(Filter::Compare(Comparison { property, operator, literal }));
        let compared = match (self, right) {
            (Self::Property(name), Self::Constant(value)) => compared(name, operator, value),
            (Self::Constant(value), Self::Property(name)) => compared(name, operator.mirrored(), value),
            (Self::Constant(left), Self::Constant(right)) => {
                Self::Constant(Value::Boolean(holds(left, operator, right)))
            }
            _ => return Err(ErrorCode::NotImplemented.into()),
        };
        match types {
            (Some(left), Some(right)) if !are_comparable(left, operator, right) => {
                Err(binary_error(types.0, types.1, kind(operator)))
            }
            _ => Ok(compared),
        }
    }

    /// The type; `None` for an open property.
    fn edm_type(&self, schema: Schema) -> Option<EdmType> {
        match self {
            Self::Predicate(_) => Some(EdmType::Boolean),
            Self::Property(name) => schema.type_of(name),
            Self::Constant(value) => Some(value.edm_type()),
        }
    }
}

fn is_truth(edm: Option<EdmType>) -> bool {
    matches!(edm, None | Some(EdmType::Boolean))
}

fn is_number(edm: EdmType) -> bool {
    matches!(edm, EdmType::Int32 | EdmType::Int64 | EdmType::Double)
}

/// Numbers compare with one another, everything else with its own type. Bytes have no order.
fn are_comparable(left: EdmType, operator: Operator, right: EdmType) -> bool {
    let fits = left == right || is_number(left) && is_number(right);
    fits && (left != EdmType::Binary || matches!(operator, Operator::Eq | Operator::Ne))
}

/// Compares two constants. Unlike a property, the narrower number becomes the wider one on either side.
fn holds(left: Value<'static>, operator: Operator, right: Value<'static>) -> bool {
    let width = |value: &Value<'_>| match value {
        Value::Int32(_) => 0,
        Value::Int64(_) => 1,
        _ => 2,
    };
    let (value, operator, literal) =
        if width(&left) < width(&right) { (right, operator.mirrored(), left) } else { (left, operator, right) };
    Comparison { property: String::new(), operator, literal }.holds_for(&value)
}

const fn kind(operator: Operator) -> &'static str {
    match operator {
        Operator::Eq => "Equal",
        Operator::Ne => "NotEqual",
        Operator::Gt => "GreaterThan",
        Operator::Ge => "GreaterThanOrEqual",
        Operator::Lt => "LessThan",
        Operator::Le => "LessThanOrEqual",
    }
}

fn name(edm: Option<EdmType>) -> &'static str {
    edm.map_or("<null>", EdmType::name)
}

fn binary_error(left: Option<EdmType>, right: Option<EdmType>, kind: &str) -> ServiceError {
    type_error(format!(
        "A binary operator with incompatible types was detected. Found operand types '{}' and '{}' for operator kind \
         '{kind}'.",
        name(left),
        name(right)
    ))
}

fn type_error(message: String) -> ServiceError {
    ServiceError::with_message(ErrorCode::InvalidInput, message).early()
}
