//! `PropertyValue` and `EntityKey` for enums of unit variants, which are strings, and for newtypes.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Result, parse_quote};

use crate::attributes::{ContainerAttributes, at};
use crate::choices::Choices;

pub(crate) fn property_value(input: &DeriveInput) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    container.check_no_columns_and_tag()?;
    let krate = container.krate();
    match &input.data {
        Data::Enum(data) => Ok(enum_property(input, &Choices::read(data, &container)?, &krate)),
        _ => Ok(newtype_property(input, newtype(input)?, &krate)),
    }
}

pub(crate) fn entity_key(input: &DeriveInput) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    container.check_no_columns_and_tag()?;
    let krate = container.krate();
    match &input.data {
        Data::Enum(data) => Ok(enum_key(input, &Choices::read(data, &container)?, &krate)),
        _ => Ok(newtype_key(input, newtype(input)?, &krate)),
    }
}

/// Returns the only field of a newtype.
fn newtype(input: &DeriveInput) -> Result<&Field> {
    let field = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
            _ => None,
        },
        _ => None,
    };
    field.ok_or_else(|| {
        let message = "expected an enum of variants without fields, or a newtype such as struct Email(String)";
        Error::new_spanned(&input.ident, message)
    })
}

/// Returns a match of the variants to their texts, on a reference `this`.
fn texts(input: &DeriveInput, choices: &Choices<'_>) -> TokenStream {
    let name = &input.ident;
    let units = choices.units.iter().map(|(ident, text)| quote!(#name::#ident => #text,));
    let other = choices.other.iter().map(|ident| quote!(#name::#ident(other) => other.as_str(),));
    quote!(match this { #(#units)* #(#other)* })
}

/// Returns a match of a text, `String` or `Cow`, to the variants, or the error of an unknown one.
fn variants(input: &DeriveInput, choices: &Choices<'_>, krate: &TokenStream) -> TokenStream {
    let units = choices.units.iter().map(|(ident, text)| quote!(#text => Self::#ident,));
    let expected: Vec<&str> = choices.units.iter().map(|(_, text)| text.as_str()).collect();
    let message = format!("is not one of {}: {{:?}}, for {}", expected.join(", "), input.ident);
    let other = match choices.other {
        Some(ident) => quote!(_ => Self::#ident(::core::convert::Into::into(text)),),
        None => quote! {
            unknown => return ::core::result::Result::Err(
                #krate::EntityError::new(::std::format!(#message, unknown))
            ),
        },
    };
    quote!(match ::core::convert::AsRef::<str>::as_ref(&text) { #(#units)* #other })
}

fn enum_property(input: &DeriveInput, choices: &Choices<'_>, krate: &TokenStream) -> TokenStream {
    let (ident, texts, variants) = (&input.ident, texts(input, choices), variants(input, choices, krate));
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::PropertyValue for #ident #ty_generics #where_clause {
            type Edm = #krate::edm::String;

            fn to_value(
                &self,
            ) -> ::core::result::Result<::core::option::Option<#krate::Value<'static>>, #krate::EntityError> {
                let this = self;
                let text: &str = #texts;
                ::core::result::Result::Ok(::core::option::Option::Some(#krate::entity::IntoValue::into_value(text)))
            }

            fn from_value(
                value: #krate::Value<'static>,
            ) -> ::core::result::Result<Self, #krate::EntityError> {
                let text = <::std::string::String as #krate::PropertyValue>::from_value(value)?;
                ::core::result::Result::Ok(#variants)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::entity::IntoValue for #ident #ty_generics #where_clause {
            fn into_value(self) -> #krate::Value<'static> {
                #krate::entity::IntoValue::into_value(&self)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::entity::IntoValue for &#ident #ty_generics #where_clause {
            fn into_value(self) -> #krate::Value<'static> {
                let this = self;
                let text: &str = #texts;
                #krate::entity::IntoValue::into_value(text)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::entity::IntoLiteral<#krate::edm::String> for #ident #ty_generics #where_clause {
            fn into_literal(self) -> #krate::Value<'static> {
                #krate::entity::IntoValue::into_value(&self)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::entity::IntoLiteral<#krate::edm::String> for &#ident #ty_generics #where_clause {
            fn into_literal(self) -> #krate::Value<'static> {
                #krate::entity::IntoValue::into_value(self)
            }
        }
    }
}

fn newtype_property(input: &DeriveInput, field: &Field, krate: &TokenStream) -> TokenStream {
    let (ident, ty) = (&input.ident, &field.ty);
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    // A wrong type is reported at the field.
    let krate_at = at(ty.span(), krate.clone());
    let inner = quote_spanned!(ty.span()=> <#ty as #krate_at::PropertyValue>);
    let end = ty.to_token_stream().into_iter().last().map_or_else(|| ty.span(), |token| token.span());
    let edm = [quote_spanned!(ty.span()=> <#ty as #krate_at::PropertyValue), quote_spanned!(end=> >::Edm)];
    let (to_value, from_value, absent) = (
        quote_spanned!(ty.span()=> #inner::to_value(&self.0)),
        quote_spanned!(ty.span()=> #inner::from_value(value).map(Self)),
        quote_spanned!(ty.span()=> #inner::absent().map(Self)),
    );
    // A filter compares with whatever the inner type compares with.
    let mut literal_generics = input.generics.clone();
    literal_generics.params.push(parse_quote!(EntityEdm));
    let into_literal = quote_spanned!(ty.span()=> #krate_at::entity::IntoLiteral<EntityEdm>);
    literal_generics.make_where_clause().predicates.push(parse_quote!(#ty: #into_literal));
    let (literal_generics, _, literal_where) = literal_generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::PropertyValue for #ident #ty_generics #where_clause {
            type Edm = #(#edm)*;

            fn to_value(
                &self,
            ) -> ::core::result::Result<::core::option::Option<#krate::Value<'static>>, #krate::EntityError> {
                #to_value
            }

            fn from_value(
                value: #krate::Value<'static>,
            ) -> ::core::result::Result<Self, #krate::EntityError> {
                #from_value
            }

            fn absent() -> ::core::option::Option<Self> {
                #absent
            }
        }

        #[automatically_derived]
        impl #literal_generics #into_literal for #ident #ty_generics #literal_where {
            fn into_literal(self) -> #krate::Value<'static> {
                <#ty as #into_literal>::into_literal(self.0)
            }
        }
    }
}

fn enum_key(input: &DeriveInput, choices: &Choices<'_>, krate: &TokenStream) -> TokenStream {
    let (ident, texts, variants) = (&input.ident, texts(input, choices), variants(input, choices, krate));
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::entity::AsKey for #ident #ty_generics #where_clause {
            fn as_key(&self) -> ::std::borrow::Cow<'_, str> {
                let this = self;
                let text: &str = #texts;
                ::std::borrow::Cow::Borrowed(text)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::EntityKey for #ident #ty_generics #where_clause {
            fn from_key(text: ::std::string::String) -> ::core::result::Result<Self, #krate::EntityError> {
                ::core::result::Result::Ok(#variants)
            }
        }
    }
}

fn newtype_key(input: &DeriveInput, field: &Field, krate: &TokenStream) -> TokenStream {
    let (ident, ty) = (&input.ident, &field.ty);
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let span = ty.span();
    let as_key = quote_spanned!(span=> <#ty as #krate::entity::AsKey>::as_key);
    let from_key = quote_spanned!(span=> <#ty as #krate::EntityKey>::from_key);
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::entity::AsKey for #ident #ty_generics #where_clause {
            fn as_key(&self) -> ::std::borrow::Cow<'_, str> {
                #as_key(&self.0)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::EntityKey for #ident #ty_generics #where_clause {
            fn from_key(key: ::std::string::String) -> ::core::result::Result<Self, #krate::EntityError> {
                #from_key(key).map(Self)
            }
        }
    }
}
