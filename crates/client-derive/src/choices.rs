//! Enums whose variants are strings: unit variants, and one for all other values.

use syn::{DataEnum, Error, Fields, Ident, Result};

use crate::attributes::{ContainerAttributes, VariantAttributes};

/// The variants and their values.
pub(crate) struct Choices<'a> {
    pub(crate) units: Vec<(&'a Ident, String)>,
    /// The variant that holds any other value.
    pub(crate) other: Option<&'a Ident>,
}

impl<'a> Choices<'a> {
    pub(crate) fn read(data: &'a DataEnum, container: &ContainerAttributes) -> Result<Self> {
        let mut read = Self { units: Vec::new(), other: None };
        for variant in &data.variants {
            let VariantAttributes { rename, partition_prefix, row_prefix, other } =
                VariantAttributes::read(&variant.attrs)?;
            if partition_prefix.is_some() || row_prefix.is_some() {
                return Err(Error::new_spanned(variant, "prefixes are for enums of entities: remove them"));
            }
            match (&variant.fields, other) {
                (Fields::Unnamed(fields), true) if fields.unnamed.len() == 1 && rename.is_none() => {
                    if read.other.replace(&variant.ident).is_some() {
                        return Err(Error::new_spanned(variant, "two variants have other: remove one"));
                    }
                }
                (_, true) => {
                    let message = "the variant with other has one String, as in Other(String), and no rename";
                    return Err(Error::new_spanned(variant, message));
                }
                (Fields::Unit, false) => {
                    let name = variant.ident.to_string();
                    let cased =
                        || container.rename_all.map_or_else(|| name.clone(), |(case, _)| case.of_variant(&name));
                    let value = rename.unwrap_or_else(cased);
                    if read.units.iter().any(|(_, earlier)| *earlier == value) {
                        let message = format!("two variants have the value {value:?}: rename one");
                        return Err(Error::new_spanned(variant, message));
                    }
                    read.units.push((&variant.ident, value));
                }
                (_, false) => {
                    let message = "a variant has no fields, or #[entity(other)] and one String; to store a value with \
                                   fields, add #[entity(json)] to the field that has it";
                    return Err(Error::new_spanned(variant, message));
                }
            }
        }
        Ok(read)
    }
}
