//! The entity of the client's benchmarks, as a user's type.

use tablerock_client::TableEntity;

/// An employee of the design guide, with a property of each common type.
#[derive(TableEntity, Debug)]
#[entity(rename_all = "PascalCase")]
pub struct Employee {
    #[entity(partition_key)]
    pub department: String,
    #[entity(row_key)]
    pub id: String,
    pub first_name: String,
    pub last_name: String,
    pub age: i32,
    pub salary: f64,
    pub visits: i64,
    pub about: String,
}
