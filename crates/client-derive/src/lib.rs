//! `#[derive(TableEntity)]`, the derive macro of `tablerock-client`, which re-exports it.

mod attributes;
mod enums;
mod structs;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, parse_macro_input};

/// Implements the conversion between a struct, or an enum of structs, and an entity.
///
/// A struct with both keys can be read and written; one without is a projection, which can be read. The macro also
/// generates a function for each field that returns its column, for filters.
///
/// Attributes of a struct:
/// - `#[entity(rename_all = "PascalCase")]` or `"camelCase"` renames all properties.
/// - `#[entity(no_columns)]` generates no columns.
///
/// Attributes of a field:
/// - `#[entity(partition_key)]`, `#[entity(row_key)]`, `#[entity(timestamp)]` and `#[entity(etag)]` mark system
///   properties.
/// - `#[entity(rename = "Name")]` sets the name of the property.
/// - `#[entity(json)]` stores the field as JSON in a string, and `#[entity(skip)]` does not store it.
/// - `#[entity(encrypt)]` marks the property for client-side encryption.
/// - `#[entity(no_column)]` generates no column, if its function would conflict with another of the same name.
///
/// `#[entity(tag = "EntityType")]` on an enum names the property that identifies its variants. Each variant has one
/// field, an entity. Attributes of a variant:
/// - `#[entity(rename = "value")]` sets the value of the tag, which is the variant's name by default.
/// - `#[entity(row_prefix = "emp_")]` and `#[entity(partition_prefix = "x")]` identify the variant by its keys instead.
/// - `#[entity(other)]` on the last variant, such as `Other(Entity)`, matches all other entities, which are written
///   unchanged, without a tag.
#[proc_macro_derive(TableEntity, attributes(entity))]
pub fn derive_table_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let derived = match &input.data {
        Data::Struct(data) => structs::derive(&input, data),
        Data::Enum(data) => enums::derive(&input, data),
        Data::Union(_) => Err(syn::Error::new_spanned(&input.ident, "TableEntity cannot be derived for a union")),
    };
    derived.unwrap_or_else(syn::Error::into_compile_error).into()
}
