//! Enums: entities of several types in one result, told apart by a property or by the beginning of a key.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Result, Variant};

use crate::attributes::{ContainerAttributes, VariantAttributes};

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    let tag = container.tag.as_deref();
    let variants: Vec<_> = data.variants.iter().map(|variant| Choice::read(variant, tag)).collect::<Result<_>>()?;
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
                ::core::result::Result::Err(::tablerock_client::EntityError::new(
                    ::std::format!("no type for the entity {:?}, {:?}", entity.partition_key, entity.row_key),
                ))
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
}

impl<'a> Choice<'a> {
    fn read(variant: &'a Variant, tag: Option<&str>) -> Result<Self> {
        let VariantAttributes { rename, partition_prefix, row_prefix } = VariantAttributes::read(&variant.attrs)?;
        let is_wrapper = matches!(&variant.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1);
        if !is_wrapper {
            return Err(Error::new_spanned(variant, "a variant holds one entity, as in Employee(Employee)"));
        }
        if tag.is_none() && partition_prefix.is_none() && row_prefix.is_none() {
            let message = "how is it told apart? Say #[entity(tag = \"…\")] on the enum, or row_prefix or \
                           partition_prefix here";
            return Err(Error::new_spanned(variant, message));
        }
        let value = rename.unwrap_or_else(|| variant.ident.to_string());
        Ok(Self { variant, value, partition_prefix, row_prefix })
    }

    fn has_prefix(&self) -> bool {
        self.partition_prefix.is_some() || self.row_prefix.is_some()
    }

    /// A variant with prefixes is known by them, any other by the tag.
    fn test(&self, tag: Option<&str>) -> TokenStream {
        let (ident, value) = (&self.variant.ident, &self.value);
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
