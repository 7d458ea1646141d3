//! Structs: each field is a property, a key, the Timestamp, the ETag, another struct, or the rest of the properties.

mod columns;
mod field;
mod read;
mod write;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataStruct, DeriveInput, Error, Fields, Result};

use crate::attributes::{ContainerAttributes, Role};
use field::EntityField;

/// A struct to derive for.
struct Entity<'a> {
    input: &'a DeriveInput,
    fields: Vec<EntityField<'a>>,
    /// The path of the client crate.
    krate: TokenStream,
}

pub(crate) fn derive(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    if let Some((_, span)) = container.tag {
        return Err(Error::new(span, "tag is an attribute of enums: remove it"));
    }
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(
            &input.ident,
            "an entity needs named fields, as in struct Employee { age: i32 }",
        ));
    };
    if let Some((case, span)) = container.rename_all
        && case.has_hyphens()
    {
        return Err(Error::new(span, "the name of a property cannot have hyphens: use another case"));
    }
    let fields = all(named.named.iter().enumerate().map(|field| EntityField::read(field, &container)))?;
    field::check(&fields)?;
    let entity = Entity { input, fields, krate: container.krate() };
    let (from_entity, to_properties) = (entity.impl_from_entity(), entity.impl_to_properties());
    // A projection can be read, and has no keys to be written under.
    let has_keys = entity.has(Role::PartitionKey) && entity.has(Role::RowKey);
    let table_entity = has_keys.then(|| entity.impl_table_entity());
    let columns = container.no_columns.is_none().then(|| entity.columns());
    Ok(quote! { #from_entity #to_properties #table_entity #columns })
}

/// Returns the attribute of generated code. Its tokens have the places of the fields, so lints would be reported there.
fn lints() -> TokenStream {
    quote! {
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, reason = "generated code")]
    }
}

/// Collects all values, or all errors, so that the compiler reports every field at once.
fn all<T>(results: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (mut values, mut errors) = (Vec::new(), None::<Error>);
    for result in results {
        match (result, &mut errors) {
            (Ok(value), _) => values.push(value),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), none) => *none = Some(error),
        }
    }
    errors.map_or(Ok(values), Err)
}

impl Entity<'_> {
    fn has(&self, role: Role) -> bool {
        self.fields.iter().any(|field| field.role == role)
    }

    fn with_role(&self, role: Role) -> impl Iterator<Item = &EntityField<'_>> {
        self.fields.iter().filter(move |field| field.role == role)
    }

    fn properties(&self) -> impl Iterator<Item = &EntityField<'_>> {
        self.fields.iter().filter(|field| field.is_property())
    }
}
