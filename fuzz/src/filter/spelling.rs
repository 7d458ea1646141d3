//! A filter as text, with parentheses only where the tree needs them.

use std::fmt::Write;

use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::{Filter, Value};

pub(super) fn spell(filter: &Filter) -> String {
    match filter {
        Filter::Or(parts) if parts.is_empty() => "false".to_owned(),
        Filter::And(parts) if parts.is_empty() => "true".to_owned(),
        Filter::Or(parts) => join(parts, " or ", |part| matches!(part, Filter::Or(_))),
        Filter::And(parts) => join(parts, " and ", |part| matches!(part, Filter::And(_) | Filter::Or(_))),
        Filter::Not(inner) => {
            let needs = matches!(**inner, Filter::And(_) | Filter::Or(_));
            if needs { format!("not ({})", spell(inner)) } else { format!("not {}", spell(inner)) }
        }
        Filter::Compare(Comparison { property, operator, literal }) => {
            format!("{property} {} {}", operator_name(*operator), spell_literal(literal))
        }
        Filter::IsTrue(property) => property.clone(),
    }
}

fn join(parts: &[Filter], keyword: &str, needs_parentheses: fn(&Filter) -> bool) -> String {
    let spelled = parts.iter().map(|part| match needs_parentheses(part) {
        true => format!("({})", spell(part)),
        false => spell(part),
    });
    spelled.collect::<Vec<_>>().join(keyword)
}

fn operator_name(operator: Operator) -> &'static str {
    match operator {
        Operator::Eq => "eq",
        Operator::Ne => "ne",
        Operator::Gt => "gt",
        Operator::Ge => "ge",
        Operator::Lt => "lt",
        Operator::Le => "le",
    }
}

fn spell_literal(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => format!("{number}L"),
        Value::Double(number) if number.is_nan() => "NaN".to_owned(),
        Value::Double(number) if number.is_infinite() => if *number > 0.0 { "INF" } else { "-INF" }.to_owned(),
        Value::Double(number) => format!("{number:?}"),
        Value::Boolean(truth) => truth.to_string(),
        Value::DateTime(date) => format!("datetime'{date}'"),
        Value::Guid(guid) => format!("guid'{guid}'"),
        Value::Binary(bytes) => {
            let mut text = "X'".to_owned();
            bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("writing to a String"));
            text + "'"
        }
    }
}
