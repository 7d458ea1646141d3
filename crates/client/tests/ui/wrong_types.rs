//! A field of a wrong type is reported once, at its type.

use tablerock_client::TableEntity;

pub enum Status {
    Active,
}

#[derive(TableEntity)]
pub struct Employee {
    #[entity(partition_key)]
    pub department: String,
    #[entity(row_key)]
    pub id: i32, //~ ERROR `i32` is not a key | format a number with leading zeros
    pub age: i32,
    pub status: Status, //~ ERROR `Status` is not a type of a property | add `#[derive(PropertyValue)]`
    pub pairs: Vec<(i32, i32)>, //~ ERROR is not a type of a property | #[entity(json)]
}

fn main() {}
