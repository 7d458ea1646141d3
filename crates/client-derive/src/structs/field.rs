//! The fields of a struct: role, name and the checks that need no types.

use proc_macro2::{Ident, Span};
use quote::{ToTokens as _, format_ident};
use syn::spanned::Spanned as _;
use syn::{Error, Field, Result, Type};

use crate::attributes::{ContainerAttributes, DefaultValue, FieldAttributes, Role};

pub(super) struct EntityField<'a> {
    index: usize,
    pub(super) ident: &'a Ident,
    pub(super) ty: &'a Type,
    pub(super) role: Role,
    /// The name of the property in the service.
    pub(super) name: String,
    pub(super) default: Option<DefaultValue>,
    pub(super) encrypt: bool,
    pub(super) no_column: bool,
}

impl<'a> EntityField<'a> {
    pub(super) fn read((index, field): (usize, &'a Field), container: &ContainerAttributes) -> Result<Self> {
        let attributes = FieldAttributes::read(&field.attrs)?;
        let ident = field.ident.as_ref().expect("named fields have names");
        let FieldAttributes { role, rename, default, encrypt, no_column } = attributes;
        let is_property = matches!(role, Role::Property | Role::Json);
        if encrypt && !is_property {
            return Err(Error::new_spanned(ident, "only properties can be encrypted: remove encrypt"));
        }
        if default.is_some() && !is_property {
            return Err(Error::new_spanned(ident, "only properties can have a default: remove default"));
        }
        if rename.is_some() && !is_property {
            return Err(Error::new_spanned(ident, "only properties have names of their own: remove rename"));
        }
        let plain = ident.to_string();
        let plain = plain.strip_prefix("r#").unwrap_or(&plain);
        let name = match (role, rename, container.rename_all) {
            (Role::PartitionKey, ..) => "PartitionKey".to_owned(),
            (Role::RowKey, ..) => "RowKey".to_owned(),
            (Role::Timestamp, ..) => "Timestamp".to_owned(),
            (_, Some(name), _) => name,
            (_, None, Some((case, _))) => case.of_field(plain),
            (_, None, None) => plain.to_owned(),
        };
        Ok(Self { index, ident, ty: &field.ty, role, name, default, encrypt, no_column })
    }

    pub(super) fn is_property(&self) -> bool {
        matches!(self.role, Role::Property | Role::Json)
    }

    /// Whether the entity has one value of this name.
    fn is_named(&self) -> bool {
        !matches!(self.role, Role::Skipped | Role::Etag | Role::Flattened | Role::Rest)
    }

    /// The place where the compiler reports that the type does not fit: the first token of the type.
    pub(super) fn span(&self) -> Span {
        self.ty.span()
    }

    /// The last token of the type.
    pub(super) fn span_end(&self) -> Span {
        let last = self.ty.to_token_stream().into_iter().last();
        last.map_or_else(|| self.span(), |token| token.span())
    }

    /// Returns the local variable for the value of a property.
    pub(super) fn found(&self) -> Ident {
        format_ident!("found_{}", self.index, span = self.span())
    }
}

pub(super) fn check(fields: &[EntityField<'_>]) -> Result<()> {
    for (index, field) in fields.iter().enumerate() {
        let earlier = || fields[..index].iter();
        if field.role == Role::Rest && earlier().any(|other| other.role == Role::Rest) {
            return Err(Error::new_spanned(field.ident, "two fields have rest: remove one"));
        }
        if field.role == Role::Etag && earlier().any(|other| other.role == Role::Etag) {
            return Err(Error::new_spanned(field.ident, "two fields have etag: remove one"));
        }
        if !field.is_named() {
            continue;
        }
        if earlier().any(|other| other.is_named() && other.name == field.name) {
            return Err(Error::new_spanned(
                field.ident,
                format!("two fields have the name {}: rename one", field.name),
            ));
        }
        if field.is_property() && matches!(field.name.as_str(), "PartitionKey" | "RowKey" | "Timestamp") {
            let message = format!("{} is reserved: use partition_key, row_key or timestamp", field.name);
            return Err(Error::new_spanned(field.ident, message));
        }
    }
    Ok(())
}
