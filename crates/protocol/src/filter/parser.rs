//! Recursive descent over the grammar of filters.
//!
//! ```text
//! or         := and ("or" and)*
//! and        := unary ("and" unary)*
//! unary      := "not" unary | "(" or ")" | comparison | property | literal
//! comparison := operand operator operand
//! operand    := property | literal | "(" operand ")"
//! ```
//!
//! Expressions without a property are evaluated here, so `1 eq 1` is `true`, and `true` is everything. Whatever OData has
//! beyond that (functions, arithmetic, two properties) is rejected as `NotImplemented`, as the service does.

use super::ast::{Filter, Operator};
use super::expression::{Connective, Expression};
use super::lexer::{Kind, Lexer, Token};
use super::literal;
use super::schema::Schema;
use crate::{ErrorCode, ServiceError, limits};

const ARITHMETIC: &[&str] = &["add", "sub", "mul", "div", "mod"];

impl Filter {
    /// Parses a filter on entities; an empty text is `None`.
    pub fn parse(text: &str) -> Result<Option<Filter>, ServiceError> {
        Self::parse_with(text, Schema::ENTITY)
    }

    /// Parses a filter on what the schema declares; an empty text is `None`.
    pub fn parse_with(text: &str, schema: Schema) -> Result<Option<Filter>, ServiceError> {
        let mut lexer = Lexer::new(text);
        let current = lexer.next()?;
        if current.kind == Kind::End {
            return Ok(None);
        }
        let mut parser = Parser { lexer, current, schema, depth: 0 };
        let expression = parser.or()?;
        if parser.current.kind != Kind::End {
            return Err(parser.unexpected());
        }
        expression.into_filter(schema).map(Some)
    }
}

fn not_implemented() -> ServiceError {
    ServiceError::new(ErrorCode::NotImplemented)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    current: Token<'a>,
    schema: Schema,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn or(&mut self) -> Result<Expression, ServiceError> {
        self.chain(Connective::Or, Self::and)
    }

    fn and(&mut self) -> Result<Expression, ServiceError> {
        self.chain(Connective::And, Self::unary)
    }

    /// `part (keyword part)*`, flat.
    fn chain(
        &mut self,
        connective: Connective,
        part: fn(&mut Self) -> Result<Expression, ServiceError>,
    ) -> Result<Expression, ServiceError> {
        let first = part(self)?;
        if !self.at_word(connective.keyword()) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.at_word(connective.keyword()) {
            self.advance()?;
            parts.push(part(self)?);
        }
        Expression::join(connective, parts, self.schema)
    }

    fn unary(&mut self) -> Result<Expression, ServiceError> {
        if self.at_word("not") {
            self.advance()?;
            self.deeper()?;
            let inner = self.unary()?;
            self.depth -= 1;
            return inner.negate(self.schema);
        }
        let left = self.operand()?;
        let Some(operator) = self.operator()? else { return Ok(left) };
        let right = self.operand()?;
        if self.operator()?.is_some() {
            return Err(self.unexpected());
        }
        left.compare(operator, right, self.schema)
    }

    fn operand(&mut self) -> Result<Expression, ServiceError> {
        let token = self.current;
        if token.kind == Kind::Open {
            self.advance()?;
            self.deeper()?;
            let inner = self.or()?;
            self.depth -= 1;
            if self.current.kind != Kind::Close {
                return Err(self.unexpected());
            }
            self.advance()?;
            return Ok(inner);
        }
        if let Some(value) = literal::parse(&self.lexer, &token)? {
            self.advance()?;
            return Ok(Expression::Constant(value));
        }
        let is_name = token.kind == Kind::Word && !is_keyword(token.text);
        if !is_name {
            return Err(self.unexpected());
        }
        self.advance()?;
        // A parenthesis right behind a name is a function call; a slash is a path into another entity.
        let glued = self.current.start == token.end() && matches!(self.current.text, "(" | "/");
        if glued {
            return Err(not_implemented());
        }
        if token.text == "null" {
            return Err(ErrorCode::InvalidInput.into());
        }
        Ok(Expression::Property(token.text.to_owned()))
    }

    fn operator(&mut self) -> Result<Option<Operator>, ServiceError> {
        if self.current.kind != Kind::Word {
            return Ok(None);
        }
        if ARITHMETIC.contains(&self.current.text) {
            return Err(not_implemented());
        }
        let operator = Operator::from_name(self.current.text);
        if operator.is_some() {
            self.advance()?;
        }
        Ok(operator)
    }

    fn at_word(&self, word: &str) -> bool {
        self.current.kind == Kind::Word && self.current.text == word
    }

    fn advance(&mut self) -> Result<(), ServiceError> {
        self.current = self.lexer.next()?;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), ServiceError> {
        self.depth += 1;
        if self.depth > limits::FILTER_DEPTH_MAX {
            let message = "Recursion depth exceeded allowed limit.";
            return Err(ServiceError::with_message(ErrorCode::InvalidInput, message).early());
        }
        Ok(())
    }

    /// The service reports where its lexer stood: behind the token that did not fit.
    fn unexpected(&self) -> ServiceError {
        debug_assert!(self.current.end() <= self.lexer.filter().len());
        self.lexer.syntax_error(self.current.end())
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "and" | "or" | "not") || Operator::from_name(word).is_some()
}
