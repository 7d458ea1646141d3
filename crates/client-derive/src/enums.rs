//! Enums: entities of several types in one result, identified by a property or by a key prefix.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DataEnum, DeriveInput, Error, Field, Fields, Result, Type, Variant};

use crate::attributes::{ContainerAttributes, VariantAttributes};

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    if let Some(span) = container.no_columns {
        return Err(Error::new(span, "no_columns is an attribute of structs: remove it"));
    }
    let krate = container.krate();
    let tag = container.tag.as_ref().map(|(tag, _)| tag.as_str());
    let variants: Vec<_> =
        data.variants.iter().map(|variant| Choice::read(variant, &container)).collect::<Result<_>>()?;
    check_other(&variants)?;
    let fallback = match variants.iter().any(|choice| choice.is_other) {
        true => TokenStream::new(),
        false => quote! {
            ::core::result::Result::Err(#krate::EntityError::new("no variant matches the entity"))
        },
    };
    let tests = variants.iter().map(|choice| choice.test(tag, &krate));
    let writes = variants.iter().map(|choice| choice.write(tag, &krate));
    let selects = variants.iter().map(|choice| {
        let ty = choice.ty;
        quote_spanned!(ty.span()=> <#ty as #krate::FromEntity>::SELECT)
    });
    let tag_name = tag.into_iter();
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let ident = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #krate::derived::Joined for #ident #ty_generics #where_clause {
            const NAMES: #krate::derived::Names =
                #krate::derived::Names::join(&[::core::option::Option::Some(&[#(#tag_name),*]) #(, #selects)*]);
        }

        #[automatically_derived]
        impl #impl_generics #krate::FromEntity for #ident #ty_generics #where_clause {
            const SELECT: ::core::option::Option<&'static [&'static str]> =
                <Self as #krate::derived::Joined>::NAMES.select();

            fn from_entity(entity: #krate::Entity) -> ::core::result::Result<Self, #krate::EntityError> {
                #(#tests)*
                #fallback
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::TableEntity for #ident #ty_generics #where_clause {
            fn to_entity(&self) -> ::core::result::Result<#krate::Entity, #krate::EntityError> {
                match self {
                    #(#writes)*
                }
            }
        }
    })
}

struct Choice<'a> {
    variant: &'a Variant,
    /// The type of the entity.
    ty: &'a Type,
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
    fn read(variant: &'a Variant, container: &ContainerAttributes) -> Result<Self> {
        let attributes = VariantAttributes::read(&variant.attrs)?;
        let VariantAttributes { rename, partition_prefix, row_prefix, other: is_other } = attributes;
        let wrapped = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
            _ => None,
        };
        let Some(Field { ty, .. }) = wrapped else {
            let message = "a variant has one field, an entity, as in Employee(Employee); for a property, derive \
                           PropertyValue instead";
            return Err(Error::new_spanned(variant, message));
        };
        if is_other && (rename.is_some() || partition_prefix.is_some() || row_prefix.is_some()) {
            return Err(Error::new_spanned(variant, "other excludes rename, partition_prefix and row_prefix"));
        }
        if !is_other && container.tag.is_none() && partition_prefix.is_none() && row_prefix.is_none() {
            let message = "nothing identifies this variant: add #[entity(tag = \"…\")] to the enum, or row_prefix, \
                           partition_prefix or other to the variant";
            return Err(Error::new_spanned(variant, message));
        }
        let name = variant.ident.to_string();
        let cased = || container.rename_all.map_or_else(|| name.clone(), |(case, _)| case.of_variant(&name));
        let value = rename.unwrap_or_else(cased);
        Ok(Self { variant, ty, value, partition_prefix, row_prefix, is_other })
    }

    fn has_prefix(&self) -> bool {
        self.partition_prefix.is_some() || self.row_prefix.is_some()
    }

    /// A variant with prefixes is identified by them, any other by the tag.
    fn test(&self, tag: Option<&str>, krate: &TokenStream) -> TokenStream {
        let (ident, value, ty) = (&self.variant.ident, &self.value, self.ty);
        let from_entity = quote_spanned!(ty.span()=> <#ty as #krate::FromEntity>::from_entity);
        if self.is_other {
            return quote! { #from_entity(entity).map(Self::#ident) };
        }
        let partition = self.partition_prefix.iter().map(|prefix| quote!(entity.partition_key.starts_with(#prefix)));
        let row = self.row_prefix.iter().map(|prefix| quote!(entity.row_key.starts_with(#prefix)));
        let condition = match tag {
            Some(tag) if !self.has_prefix() => quote! {
                ::core::matches!(
                    entity.get(#tag),
                    ::core::option::Option::Some(#krate::Value::String(tag)) if tag == #value
                )
            },
            _ => quote!(true #(&& #partition)* #(&& #row)*),
        };
        quote! {
            if #condition {
                return #from_entity(entity).map(Self::#ident);
            }
        }
    }

    fn write(&self, tag: Option<&str>, krate: &TokenStream) -> TokenStream {
        let (ident, value, ty) = (&self.variant.ident, &self.value, self.ty);
        let to_entity = quote_spanned!(ty.span()=> <#ty as #krate::TableEntity>::to_entity);
        // An entity of the last variant is written unchanged.
        let tag = tag.filter(|_| !self.is_other);
        let set = tag.map(|tag| quote!(entity.set(#tag, #value);));
        let mutable = tag.map(|_| quote!(mut));
        quote! {
            Self::#ident(inner) => {
                let #mutable entity = #to_entity(inner)?;
                #set
                ::core::result::Result::Ok(entity)
            }
        }
    }
}
