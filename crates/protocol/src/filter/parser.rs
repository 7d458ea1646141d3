//! Recursive descent over the grammar of filters.
//!
//! ```text
//! or         := and ("or" and)*
//! and        := unary ("and" unary)*
//! unary      := "not" unary | "(" or ")" | comparison | property
//! comparison := operand operator operand
//! operand    := property | literal | "(" operand ")"
//! ```
//!
//! Whatever OData has beyond that (functions, arithmetic, two properties, two literals, null) is rejected as
//! `NotImplemented`, as the service does.

use super::ast::{Comparison, Filter, Operator};
use super::lexer::{Kind, Lexer, Token};
use super::literal;
use crate::{ErrorCode, ServiceError, Value, limits};

const ARITHMETIC: &[&str] = &["add", "sub", "mul", "div", "mod"];

impl Filter {
    /// Parses a filter; an empty text is `None`.
    pub fn parse(text: &str) -> Result<Option<Filter>, ServiceError> {
        let mut lexer = Lexer::new(text);
        let current = lexer.next()?;
        if current.kind == Kind::End {
            return Ok(None);
        }
        let mut parser = Parser { lexer, current, depth: 0 };
        let expression = parser.or()?;
        if parser.current.kind != Kind::End {
            return Err(parser.unexpected());
        }
        predicate(expression).map(Some)
    }
}

/// A parsed part of the text; parentheses may surround an operand as well as a predicate.
enum Expression {
    Predicate(Filter),
    Property(String),
    Literal(Value<'static>),
}

/// Where a predicate is needed, a bare property is one, and a bare constant is not implemented.
fn predicate(expression: Expression) -> Result<Filter, ServiceError> {
    match expression {
        Expression::Predicate(filter) => Ok(filter),
        Expression::Property(name) => Ok(Filter::IsTrue(name)),
        Expression::Literal(_) => Err(not_implemented()),
    }
}

fn not_implemented() -> ServiceError {
    ServiceError::new(ErrorCode::NotImplemented)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    current: Token<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn or(&mut self) -> Result<Expression, ServiceError> {
        self.chain("or", Self::and, Filter::Or)
    }

    fn and(&mut self) -> Result<Expression, ServiceError> {
        self.chain("and", Self::unary, Filter::And)
    }

    /// `part (keyword part)*`, flat.
    fn chain(
        &mut self,
        keyword: &str,
        part: fn(&mut Self) -> Result<Expression, ServiceError>,
        join: fn(Vec<Filter>) -> Filter,
    ) -> Result<Expression, ServiceError> {
        let first = part(self)?;
        if !self.at_word(keyword) {
            return Ok(first);
        }
        let mut parts = vec![predicate(first)?];
        while self.at_word(keyword) {
            self.advance()?;
            parts.push(predicate(part(self)?)?);
        }
        Ok(Expression::Predicate(join(parts)))
    }

    fn unary(&mut self) -> Result<Expression, ServiceError> {
        if self.at_word("not") {
            self.advance()?;
            self.deeper()?;
            let inner = predicate(self.unary()?)?;
            self.depth -= 1;
            return Ok(Expression::Predicate(Filter::Not(Box::new(inner))));
        }
        let left = self.operand()?;
        let Some(operator) = self.operator()? else { return Ok(left) };
        let right = self.operand()?;
        if self.operator()?.is_some() {
            return Err(self.unexpected());
        }
        compare(left, operator, right)
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
            return Ok(Expression::Literal(value));
        }
        let is_name = token.kind == Kind::Word && !is_keyword(token.text);
        if !is_name {
            return Err(self.unexpected());
        }
        self.advance()?;
        // A parenthesis right behind a name is a function call; a slash is a path into another entity.
        let glued = self.current.start == token.end() && matches!(self.current.text, "(" | "/");
        if glued || token.text == "null" {
            return Err(not_implemented());
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
        if self.depth > limits::FILTER_DEPTH_MAX { Err(ErrorCode::InvalidInput.into()) } else { Ok(()) }
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

fn compare(left: Expression, operator: Operator, right: Expression) -> Result<Expression, ServiceError> {
    let (property, operator, literal) = match (left, right) {
        (Expression::Property(name), Expression::Literal(value)) => (name, operator, value),
        (Expression::Literal(value), Expression::Property(name)) => (name, operator.mirrored(), value),
        _ => return Err(not_implemented()),
    };
    Ok(Expression::Predicate(Filter::Compare(Comparison { property, operator, literal })))
}
