//! A method with the name of a field collides with its column, at the field.

use tablerock_client::TableEntity;

#[derive(TableEntity)]
pub struct Employee {
    pub id: String, //~ ERROR duplicate definitions with name `id`
}

impl Employee {
    pub fn id(&self) -> &str {
        &self.id
    }
}

fn main() {}
