//! What the derives of values take.

use tablerock_client::{PropertyValue, TableEntity};

#[derive(PropertyValue)]
pub struct Pair(i32, i32); //~ ERROR expected an enum of variants without fields, or a newtype

#[derive(PropertyValue)]
pub enum Shape {
    Circle,
    Square(f64), //~ ERROR a variant has no fields, or #[entity(other)] and one String
}

#[derive(PropertyValue)]
pub struct Wrapper(Vec<String>); //~ ERROR is not a type of a property | add `#[derive(PropertyValue)]`

pub struct Address;

#[derive(TableEntity)]
pub struct Employee {
    #[entity(flatten)]
    pub address: Address, //~ ERROR `Address` cannot be flattened into an entity | add `#[derive(TableEntity)]`
}

fn main() {}
