//! `$filter`: text to a tree, and the tree against an entity.

mod ast;
mod lexer;
mod literal;
mod matching;
mod parser;

pub use ast::{Comparison, Filter, Operator};
pub use matching::Row;
