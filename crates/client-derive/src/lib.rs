//! `#[derive(TableEntity)]`, the derive macro of `tablerock-client`. Its documentation is there, at the trait of the
//! same name.

mod attributes;
mod enums;
mod structs;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, parse_macro_input};

/// Makes a plain struct an entity, or an enum of entities one that is told apart when it is read.
///
/// On a struct: `#[entity(rename_all = "PascalCase")]` (or `camelCase`), `#[entity(no_columns)]`.
///
/// On its fields: `#[entity(partition_key)]`, `#[entity(row_key)]`, `#[entity(timestamp)]`, `#[entity(etag)]`,
/// `#[entity(rename = "Name")]`, `#[entity(skip)]`, `#[entity(json)]`, `#[entity(encrypt)]`, and `#[entity(no_column)]`
/// where the function of the column would clash with another of the same name.
///
/// On an enum: `#[entity(tag = "EntityType")]`. On its variants, each of which holds one entity:
/// `#[entity(rename = "value of the tag")]`, or `#[entity(row_prefix = "emp_")]`, `#[entity(partition_prefix = "x")]`. At
/// the end, `#[entity(other)] Other(Entity)` takes what no other variant does, and is written as it is, without a tag.
#[proc_macro_derive(TableEntity, attributes(entity))]
pub fn derive_table_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let derived = match &input.data {
        Data::Struct(data) => structs::derive(&input, data),
        Data::Enum(data) => enums::derive(&input, data),
        Data::Union(_) => Err(syn::Error::new_spanned(&input.ident, "a union has no properties")),
    };
    derived.unwrap_or_else(syn::Error::into_compile_error).into()
}
