//! Words, literals and parentheses of a filter.

use crate::{ErrorCode, ServiceError, identifier};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword, a property, a function or a word such as `true`.
    Word,
    /// A quoted string, with its prefix if it has one (`datetime'…'`).
    Quoted,
    /// Digits with all that can belong to a number.
    Number,
    Open,
    Close,
    /// `,`, `/`, `-` and other single characters that some OData expressions have.
    Other,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Byte offset of the token in the filter.
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

pub(super) struct Lexer<'a> {
    filter: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(filter: &'a str) -> Self {
        Self { filter, at: 0 }
    }

    pub(super) fn filter(&self) -> &'a str {
        self.filter
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, ServiceError> {
        let rest = &self.filter[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let rest = &self.filter[start..];
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some('(') => (Kind::Open, 1),
            Some(')') => (Kind::Close, 1),
            Some('\'') => (Kind::Quoted, self.quoted(start, 0)?),
            Some(first) if first.is_ascii_digit() => (Kind::Number, number_length(rest)),
            Some('-') if rest[1..].starts_with("INF") => (Kind::Word, 4),
            Some('-') if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                (Kind::Number, 1 + number_length(&rest[1..]))
            }
            Some(first) if identifier::is_start(first) => self.word_or_quoted(start, rest)?,
            Some(other) if other.is_ascii_punctuation() => (Kind::Other, 1),
            Some(_) => return Err(self.syntax_error(start)),
        };
        self.at = start + length;
        Ok(Token { kind, text: &rest[..length], start })
    }

    fn word_or_quoted(&self, start: usize, rest: &str) -> Result<(Kind, usize), ServiceError> {
        let length = rest.find(|next: char| !identifier::is_part(next)).unwrap_or(rest.len());
        if rest[length..].starts_with('\'') {
            return Ok((Kind::Quoted, self.quoted(start, length)?));
        }
        Ok((Kind::Word, length))
    }

    /// The length of a quoted literal whose opening quote is `prefix` bytes after `start`.
    fn quoted(&self, start: usize, prefix: usize) -> Result<usize, ServiceError> {
        let bytes = &self.filter.as_bytes()[start..];
        let mut at = prefix + 1;
        loop {
            match memchr::memchr(b'\'', &bytes[at..]) {
                None => return Err(self.unterminated(start)),
                Some(offset) if bytes.get(at + offset + 1) == Some(&b'\'') => at += offset + 2,
                Some(offset) => return Ok(at + offset + 1),
            }
        }
    }

    /// The service counts positions in characters.
    pub(super) fn syntax_error(&self, byte: usize) -> ServiceError {
        let message = format!("Syntax error at position {} in '{}'.", self.position(byte), self.filter);
        ServiceError::with_message(ErrorCode::InvalidInput, message).early()
    }

    fn unterminated(&self, byte: usize) -> ServiceError {
        let position = self.position(byte);
        let message = format!("There is an unterminated literal at position {position} in '{}'.", self.filter);
        ServiceError::with_message(ErrorCode::InvalidInput, message).early()
    }

    pub(super) fn unrecognized(&self, edm: &str, token: &Token<'_>) -> ServiceError {
        let position = self.position(token.start);
        let message = format!("Unrecognized '{edm}' literal '{}' at '{position}' in '{}'.", token.text, self.filter);
        ServiceError::with_message(ErrorCode::InvalidInput, message).early()
    }

    fn position(&self, byte: usize) -> usize {
        self.filter[..byte].encode_utf16().count()
    }
}

/// Digits, a fraction, an exponent and a type suffix, as far as they go.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = digits(0);
    if bytes.get(at) == Some(&b'.') {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    // Letters glued to a number are its suffix, right or wrong.
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}
