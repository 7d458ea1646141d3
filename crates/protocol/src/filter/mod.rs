//! `$filter`: text to a tree, and the tree against an entity.

mod ast;
mod join;
mod lexer;
mod literal;
mod matching;
mod parser;
mod write;

pub use ast::{Comparison, Filter, Operator};
pub use matching::Row;
