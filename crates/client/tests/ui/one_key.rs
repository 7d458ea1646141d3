//! A struct with one key can be read; writing it says what is missing.

use tablerock_client::{TableClient, TableEntity};

#[derive(TableEntity)]
pub struct Employee {
    #[entity(row_key)]
    pub id: String,
}

pub async fn write(table: &TableClient, employee: &Employee) {
    let _ = table.insert(employee).await; //~ ERROR `Employee` cannot be written as an entity | both `#[entity(partition_key)]` and `#[entity(row_key)]`
}

fn main() {}
