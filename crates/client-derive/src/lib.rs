//! The derive macros of `tablerock-client`, which re-exports them: `TableEntity`, `PropertyValue` and `EntityKey`.

mod attributes;
mod case;
mod choices;
mod enums;
mod structs;
mod values;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, parse_macro_input};

/// Implements the conversion between a struct, or an enum of structs, and an entity. The page of the macro in
/// `tablerock_client` has the attributes and examples.
#[proc_macro_derive(TableEntity, attributes(entity))]
pub fn derive_table_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let derived = match &input.data {
        Data::Struct(data) => structs::derive(&input, data),
        Data::Enum(data) => enums::derive(&input, data),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "TableEntity cannot be derived for a union")),
    };
    derived.unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `PropertyValue` for an enum of unit variants or a newtype. The page of the macro in `tablerock_client` has
/// the attributes and examples.
#[proc_macro_derive(PropertyValue, attributes(entity))]
pub fn derive_property_value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    values::property_value(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `EntityKey` for an enum of unit variants or a newtype. The page of the macro in `tablerock_client` has the
/// attributes and examples.
#[proc_macro_derive(EntityKey, attributes(entity))]
pub fn derive_entity_key(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    values::entity_key(&input).unwrap_or_else(Error::into_compile_error).into()
}
