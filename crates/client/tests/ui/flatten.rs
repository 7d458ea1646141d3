//! A flattened field whose type is not an entity is reported once, at its type.

use tablerock_client::TableEntity;

pub struct Address {
    pub street: String,
}

#[derive(TableEntity)]
pub struct Employee {
    #[entity(partition_key)]
    pub department: String,
    #[entity(row_key)]
    pub id: String,
    #[entity(flatten)]
    pub address: Address, //~ ERROR `Address` cannot be flattened into an entity | add `#[derive(TableEntity)]`
}

fn main() {}
