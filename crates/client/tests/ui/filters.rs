//! A filter takes values of the column's type.

use tablerock_client::{TableEntity, Filter};

#[derive(TableEntity)]
pub struct Employee {
    pub age: i32,
}

pub fn filter() -> Filter {
    Employee::age().gt("thirty") //~ ERROR `&str` does not compare with a column of type | edm::Int32` | table of the types
}

fn main() {}
