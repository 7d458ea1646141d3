//! Entities, tables and errors as JSON, in both directions.
//!
//! Reading streams the body into properties that borrow from it; writing goes from stored properties straight
//! into the buffer of the response. Neither builds a tree.

mod number;
mod read;
mod read_answer;
mod text;
mod write;
mod write_request;
mod write_tables;

pub use read::{parse_changes, parse_entity, parse_table_name};
pub use read_answer::{AnsweredEntity, parse_answered_entities, parse_answered_entity, parse_answered_tables};
pub use text::append_json_string;
pub use write::{EntityShape, Location, append_address, append_entity};
pub use write_request::{append_create_table, append_entity_body};
pub use write_tables::{append_table, append_tables_head};
