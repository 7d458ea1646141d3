//! Entities, tables and errors as JSON, in both directions.
//!
//! Reading streams the body into properties that borrow from it; writing goes from stored properties straight
//! into the answer's buffer. Neither builds a tree.

mod number;
mod read;
mod text;
mod write;
mod write_tables;

pub use read::{parse_entity, parse_table_name};
pub use text::append_json_string;
pub use write::{EntityShape, Location, append_address, append_entity};
pub use write_tables::{append_table, append_tables_head};
