//! `$filter`: text to a tree, and the tree against an entity.

mod ast;
mod expression;
mod join;
mod lexer;
mod literal;
mod matching;
mod parser;
mod schema;
mod write;

pub use ast::{Comparison, Filter, Operator};
pub use matching::Row;
pub use schema::{Schema, TABLE_NAME};
