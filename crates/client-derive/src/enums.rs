//! Enums: entities of several types in one result, identified by a property or by a key prefix.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Result, Variant};

use crate::attributes::{ContainerAttributes, VariantAttributes};

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    let tag = container.tag.as_deref();
    let variants: Vec<_> = data.variants.iter().map(|variant| Choice::read(variant, tag)).collect::<Result<_>>()?;
    check_other(&variants)?;
    let fallback = match variants.iter().any(|choice| choice.is_other) {
        true => TokenStream::new(),
        false => quote! {
            ::core::result::Result::Err(::tablerock_client::EntityError::new("no variant matches the entity"))
        },
    };
    let tests = variants.iter().map(|choice| choice.test(tag));
    let writes = variants.iter().map(|choice| choice.write(tag));
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let ident = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::tablerock_client::FromEntity for #ident #ty_generics #where_clause {
            const SELECT: ::core::option::Option<&'static [&'static str]> = ::core::option::Option::None;

            fn from_entity(
                entity: ::tablerock_client::Entity,
            ) -> ::core::result::Result<Self, ::tablerock_client::EntityError> {
                #(#tests)*
                #fallback
            }
        }

        #[automatically_derived]
        impl #impl_generics ::tablerock_client::TableEntity for #ident #ty_generics #where_clause {
            fn to_entity(
                &self,
            ) -> ::core::result::Result<::tablerock_client::Entity, ::tablerock_client::EntityError> {
                match self {
                    #(#writes)*
                }
            }
        }
    })
}

struct Choice<'a> {
    variant: &'a Variant,
    value: String,
    partition_prefix: Option<String>,
    row_prefix: Option<String>,
    /// It matches entities that no other variant does.
    is_other: bool,
}

/// Checks that the variant that matches every entity is the last.
fn check_other(variants: &[Choice<'_>]) -> Result<()> {
    match variants.iter().position(|choice| choice.is_other) {
        Some(index) if index + 1 < variants.len() => {
            Err(Error::new_spanned(variants[index].variant, "the variant with #[entity(other)] has to be the last"))
        }
        _ => Ok(()),
    }
}

impl<'a> Choice<'a> {
    fn read(variant: &'a Variant, tag: Option<&str>) -> Result<Self> {
        let attributes = VariantAttributes::read(&variant.attrs)?;
        let VariantAttributes { rename, partition_prefix, row_prefix, other: is_other } = attributes;
        let is_wrapper = matches!(&variant.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1);
        if !is_wrapper {
            return Err(Error::new_spanned(variant, "a variant has one field, an entity, as in Employee(Employee)"));
        }
        if is_other && (rename.is_some() || partition_prefix.is_some() || row_prefix.is_some()) {
            return Err(Error::new_spanned(variant, "other excludes rename, partition_prefix and row_prefix"));
        }
        if !is_other && tag.is_none() && partition_prefix.is_none() && row_prefix.is_none() {
            let message = "nothing identifies this variant: add #[entity(tag = \"…\")] to the enum, or row_prefix, \
                           partition_prefix or other to the variant";
            return Err(Error::new_spanned(variant, message));
        }
        let value = rename.unwrap_or_else(|| variant.ident.to_string());
        Ok(Self { variant, value, partition_prefix, row_prefix, is_other })
    }

    fn has_prefix(&self) -> bool {
        self.partition_prefix.is_some() || self.row_prefix.is_some()
    }

    /// A variant with prefixes is identified by them, any other by the tag.
    fn test(&self, tag: Option<&str>) -> TokenStream {
        let (ident, value) = (&self.variant.ident, &self.value);
        if self.is_other {
            return quote! { ::tablerock_client::FromEntity::from_entity(entity).map(Self::#ident) };
        }
        let partition = self.partition_prefix.iter().map(|prefix| quote!(entity.partition_key.starts_with(#prefix)));
        let row = self.row_prefix.iter().map(|prefix| quote!(entity.row_key.starts_with(#prefix)));
        let condition = match tag {
            Some(tag) if !self.has_prefix() => quote! {
                ::core::matches!(
                    entity.get(#tag),
                    ::core::option::Option::Some(::tablerock_client::Value::String(tag)) if tag == #value
                )
            },
            _ => quote!(true #(&& #partition)* #(&& #row)*),
        };
        quote! {
            if #condition {
                return ::tablerock_client::FromEntity::from_entity(entity).map(Self::#ident);
            }
        }
    }

    fn write(&self, tag: Option<&str>) -> TokenStream {
        let (ident, value) = (&self.variant.ident, &self.value);
        // An entity of the last variant is written unchanged.
        let tag = tag.filter(|_| !self.is_other);
        let set = tag.map(|tag| quote!(entity.set(#tag, #value);));
        let mutable = tag.map(|_| quote!(mut));
        quote! {
            Self::#ident(inner) => {
                let #mutable entity = ::tablerock_client::TableEntity::to_entity(inner)?;
                #set
                ::core::result::Result::Ok(entity)
            }
        }
    }
}
