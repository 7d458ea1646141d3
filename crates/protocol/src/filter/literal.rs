//! Literals of a filter: which type a token has, and its value.

use std::borrow::Cow;

use uuid::Uuid;

use super::lexer::{Kind, Lexer, Token};
use crate::{DateTime, ServiceError, Value};

/// The value of a token that is a literal; `None` if it is something else.
pub(super) fn parse<'a>(lexer: &Lexer<'a>, token: &Token<'a>) -> Result<Option<Value<'static>>, ServiceError> {
    match token.kind {
        Kind::Quoted => quoted(lexer, token).map(Some),
        Kind::Number => number(token.text).map(Some).map_err(|edm| lexer.unrecognized(edm, token)),
        Kind::Word => Ok(word(token.text)),
        _ => Ok(None),
    }
}

fn word(text: &str) -> Option<Value<'static>> {
    Some(match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        "NaN" => Value::Double(f64::NAN),
        "INF" => Value::Double(f64::INFINITY),
        "-INF" => Value::Double(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// An integer without a suffix must fit Int32: the service does not widen it. The error is the type's name.
fn number(text: &str) -> Result<Value<'static>, &'static str> {
    let suffix = text.chars().next_back().filter(char::is_ascii_alphabetic);
    let body = &text[..text.len() - suffix.map_or(0, char::len_utf8)];
    let has_fraction = body.contains(['.', 'e', 'E']);
    match suffix {
        Some('L' | 'l') if !has_fraction => body.parse().map(Value::Int64).map_err(|_| "Edm.Int64"),
        Some('D' | 'd') => double(body),
        None if has_fraction => double(body),
        None => body.parse().map(Value::Int32).map_err(|_| "Edm.Int32"),
        Some(_) => Err("Edm.Double"),
    }
}

fn double(text: &str) -> Result<Value<'static>, &'static str> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Value::Double(number)),
        _ => Err("Edm.Double"),
    }
}

fn quoted<'a>(lexer: &Lexer<'a>, token: &Token<'a>) -> Result<Value<'static>, ServiceError> {
    let open = token.text.find('\'').expect("a quoted token has a quote");
    let prefix = &token.text[..open];
    let inner = &token.text[open + 1..token.text.len() - 1];
    match prefix {
        "" => Ok(Value::String(Cow::Owned(inner.replace("''", "'")))),
        "datetime" => {
            DateTime::parse(inner).map(Value::DateTime).map_err(|_| lexer.unrecognized("Edm.DateTime", token))
        }
        "guid" => Uuid::try_parse(inner)
            .ok()
            .filter(|_| inner.len() == 36)
            .map(Value::Guid)
            .ok_or_else(|| lexer.unrecognized("Edm.Guid", token)),
        "X" | "x" | "binary" => match decode_hex(inner) {
            Some(bytes) => Ok(Value::Binary(Cow::Owned(bytes))),
            None => Err(lexer.unrecognized("Edm.Binary", token)),
        },
        _ => Err(lexer.syntax_error(token.end())),
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    text.as_bytes().chunks_exact(2).map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}
