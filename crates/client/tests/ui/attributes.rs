//! Each wrong attribute is reported, all at once.

use tablerock_client::TableEntity;

#[derive(TableEntity)]
pub struct Employee {
    #[entity(partition)] //~ ERROR unknown attribute: expected partition_key, row_key
    pub department: String,
    #[entity(row_key, etag)] //~ ERROR a field has one role
    pub id: String,
    #[entity(skip, default)]
    pub age: i32, //~ ERROR only properties can have a default
}

#[derive(TableEntity)]
#[entity(rename_all = "kebab-case")] //~ ERROR cannot have hyphens
pub struct Hyphens {
    pub first_name: String,
}

#[derive(TableEntity)]
#[entity(rename_all = "Title Case")] //~ ERROR unknown case: expected one of "lowercase", "UPPERCASE"
pub struct Titles {
    pub first_name: String,
}

#[derive(TableEntity)]
pub struct Twice {
    pub name: String,
    #[entity(rename = "name")]
    pub other: String, //~ ERROR two fields have the name name
}

fn main() {}
