//! The attributes `#[entity(…)]` of structs, fields, enums and variants.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Result};

/// The attributes of a struct or an enum.
#[derive(Default)]
pub(crate) struct ContainerAttributes {
    pub(crate) rename_all: Option<Case>,
    pub(crate) no_columns: bool,
    pub(crate) tag: Option<String>,
}

#[derive(Clone, Copy)]
pub(crate) enum Case {
    Pascal,
    Camel,
}

/// The role of a field.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Property,
    Json,
    PartitionKey,
    RowKey,
    Timestamp,
    Etag,
    Skipped,
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) role: Role,
    pub(crate) rename: Option<String>,
    pub(crate) encrypt: bool,
    pub(crate) no_column: bool,
}

/// The attributes of a variant.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) rename: Option<String>,
    pub(crate) partition_prefix: Option<String>,
    pub(crate) row_prefix: Option<String>,
    pub(crate) other: bool,
}

impl ContainerAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut read = Self::default();
        each(attributes, |meta| {
            if meta.path.is_ident("rename_all") {
                let text: LitStr = meta.value()?.parse()?;
                read.rename_all = Some(match text.value().as_str() {
                    "PascalCase" => Case::Pascal,
                    "camelCase" => Case::Camel,
                    _ => return Err(syn::Error::new(text.span(), "expected \"PascalCase\" or \"camelCase\"")),
                });
            } else if meta.path.is_ident("no_columns") {
                read.no_columns = true;
            } else if meta.path.is_ident("tag") {
                read.tag = Some(text(&meta)?);
            } else {
                return Err(meta.error("unknown attribute: expected rename_all, no_columns or, on an enum, tag"));
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl FieldAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut read = Self::default();
        each(attributes, |meta| {
            let role = match meta.path.get_ident().map(ToString::to_string).unwrap_or_default().as_str() {
                "partition_key" => Role::PartitionKey,
                "row_key" => Role::RowKey,
                "timestamp" => Role::Timestamp,
                "etag" => Role::Etag,
                "skip" => Role::Skipped,
                "json" => Role::Json,
                "encrypt" => {
                    read.encrypt = true;
                    return Ok(());
                }
                "no_column" => {
                    read.no_column = true;
                    return Ok(());
                }
                "rename" => {
                    read.rename = Some(text(&meta)?);
                    return Ok(());
                }
                _ => {
                    return Err(meta.error(
                        "unknown attribute: expected partition_key, row_key, timestamp, etag, rename, skip, json, encrypt or \
                         no_column",
                    ));
                }
            };
            if read.role != Role::Property {
                return Err(meta.error("a field has one role: remove one of these attributes"));
            }
            read.role = role;
            Ok(())
        })?;
        Ok(read)
    }
}

impl VariantAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut read = Self::default();
        each(attributes, |meta| {
            let target = if meta.path.is_ident("rename") {
                &mut read.rename
            } else if meta.path.is_ident("partition_prefix") {
                &mut read.partition_prefix
            } else if meta.path.is_ident("row_prefix") {
                &mut read.row_prefix
            } else if meta.path.is_ident("other") {
                read.other = true;
                return Ok(());
            } else {
                return Err(meta.error("unknown attribute: expected rename, partition_prefix, row_prefix or other"));
            };
            *target = Some(text(&meta)?);
            Ok(())
        })?;
        Ok(read)
    }
}

impl Case {
    /// Returns a field's name in this case: `FirstName` or `firstName` for `first_name`.
    pub(crate) fn apply(self, field: &str) -> String {
        let mut name = String::with_capacity(field.len());
        let mut upper = matches!(self, Self::Pascal);
        for char in field.chars() {
            match char {
                '_' => upper = upper || !name.is_empty(),
                _ if std::mem::take(&mut upper) => name.extend(char.to_uppercase()),
                _ => name.push(char),
            }
        }
        name
    }
}

fn each(attributes: &[Attribute], mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    let mut own = attributes.iter().filter(|attribute| attribute.path().is_ident("entity"));
    own.try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<String> {
    Ok(meta.value()?.parse::<LitStr>()?.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_their_case() {
        assert_eq!(Case::Pascal.apply("first_name"), "FirstName");
        assert_eq!(Case::Camel.apply("first_name"), "firstName");
        assert_eq!(Case::Pascal.apply("_x2_y"), "X2Y");
    }
}
