//! `FromEntity`: from the properties of an entity to the fields of a struct.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::LitStr;

use super::field::EntityField;
use super::{Entity, lints};
use crate::attributes::{DefaultValue, Role, at};

impl Entity<'_> {
    pub(super) fn impl_from_entity(&self) -> TokenStream {
        let (krate, ident) = (&self.krate, &self.input.ident);
        let (impl_generics, ty_generics, where_clause) = self.input.generics.split_for_impl();
        let lints = lints();
        let (select, select_helper) = self.select();
        let places = self.properties().map(|field| {
            let (found, ty) = (field.found(), field.ty);
            quote_spanned! {field.span()=>
                let mut #found: ::core::option::Option<#ty> = ::core::option::Option::None;
            }
        });
        let arms = self.properties().map(|field| self.take(field));
        let keeps_others = self.has(Role::Flattened) || self.has(Role::Rest);
        let (others, other_arm) = match keeps_others {
            true => (quote!(let mut others = ::std::vec::Vec::new();), quote!(others.push(property))),
            false => (TokenStream::new(), quote!({})),
        };
        // In the order of the fields: a flattened struct takes its properties before the rest is taken.
        let flattened = self.with_role(Role::Flattened).map(|field| {
            let (found, ty) = (field.found(), field.ty);
            let krate = at(field.span(), self.krate.clone());
            quote_spanned! {field.span()=>
                let #found = <#ty as #krate::derived::Flatten>::take(&entity, &mut others)?;
            }
        });
        let rest = self.with_role(Role::Rest).map(|field| {
            let found = field.found();
            quote! { let #found = derived::rest(&entity, others); }
        });
        let values = self.fields.iter().map(|field| {
            let (ident, value) = (field.ident, self.value(field));
            quote! { #ident: #value }
        });
        quote! {
            #select_helper

            #[automatically_derived]
            #lints
            impl #impl_generics #krate::FromEntity for #ident #ty_generics #where_clause {
                const SELECT: ::core::option::Option<&'static [&'static str]> = #select;

                fn from_entity(
                    mut entity: #krate::Entity,
                ) -> ::core::result::Result<Self, #krate::EntityError> {
                    use #krate::derived;
                    #(#places)*
                    #others
                    for property in derived::properties(&mut entity) {
                        match ::core::convert::AsRef::<str>::as_ref(&property.name) {
                            #(#arms)*
                            _ => #other_arm,
                        }
                    }
                    #(#flattened)*
                    #(#rest)*
                    ::core::result::Result::Ok(Self { #(#values),* })
                }
            }
        }
    }

    /// Returns the names that a projection selects, and an item that they need.
    fn select(&self) -> (TokenStream, Option<TokenStream>) {
        let names = self.properties().map(|field| &field.name);
        if self.has(Role::Rest) {
            return (quote!(::core::option::Option::None), None);
        }
        if !self.has(Role::Flattened) {
            return (quote!(::core::option::Option::Some(&[#(#names),*])), None);
        }
        let (krate, ident) = (&self.krate, &self.input.ident);
        let (impl_generics, ty_generics, where_clause) = self.input.generics.split_for_impl();
        let lints = lints();
        let flattened = self.with_role(Role::Flattened).map(|field| {
            let ty = field.ty;
            let krate = at(field.span(), self.krate.clone());
            quote_spanned!(field.span()=> <#ty as #krate::derived::Flatten>::SELECT)
        });
        let helper = quote! {
            #[automatically_derived]
            #lints
            impl #impl_generics #krate::derived::Joined for #ident #ty_generics #where_clause {
                const NAMES: #krate::derived::Names =
                    #krate::derived::Names::join(&[::core::option::Option::Some(&[#(#names),*]) #(, #flattened)*]);
            }
        };
        (quote!(<Self as #krate::derived::Joined>::NAMES.select()), Some(helper))
    }

    /// The arm of a property. Errors of the compiler are at the type of the field, each once: the calls of the trait
    /// are the same wherever they are.
    fn take(&self, field: &EntityField<'_>) -> TokenStream {
        let (found, name, ty) = (field.found(), LitStr::new(&field.name, field.span()), field.ty);
        let krate = at(field.span(), self.krate.clone());
        let value = match field.role {
            Role::Json => quote_spanned!(field.span()=> derived::take_json::<#ty>(#name, property.value)?),
            _ => quote_spanned! {field.span()=>
                derived::named(#name, <#ty as #krate::PropertyValue>::from_value(property.value))?
            },
        };
        quote_spanned! {field.span()=> #name => #found = ::core::option::Option::Some(#value), }
    }

    fn value(&self, field: &EntityField<'_>) -> TokenStream {
        let (found, name, ty) = (field.found(), LitStr::new(&field.name, field.span()), field.ty);
        let krate = at(field.span(), self.krate.clone());
        match (field.role, &field.default) {
            (Role::Property | Role::Json, Some(DefaultValue::Trait)) => {
                quote_spanned!(field.span()=> #found.unwrap_or_else(<#ty as ::core::default::Default>::default))
            }
            (Role::Property | Role::Json, Some(DefaultValue::Function(function))) => {
                quote!(#found.unwrap_or_else(#function))
            }
            (Role::Property, None) => {
                quote_spanned! {field.span()=>
                    match #found {
                        ::core::option::Option::Some(value) => value,
                        ::core::option::Option::None => {
                            derived::required(#name, <#ty as #krate::PropertyValue>::absent())?
                        }
                    }
                }
            }
            (Role::Json, None) => quote_spanned!(field.span()=> derived::or_null::<#ty>(#name, #found)?),
            (Role::PartitionKey | Role::RowKey, _) => {
                let key = if field.role == Role::PartitionKey { quote!(partition_key) } else { quote!(row_key) };
                quote_spanned! {field.span()=>
                    derived::named(#name, <#ty as #krate::EntityKey>::from_key(entity.#key))?
                }
            }
            (Role::Timestamp, _) => quote_spanned!(field.span()=> derived::timestamp::<#ty>(entity.timestamp)?),
            (Role::Etag, _) => quote_spanned!(field.span()=> entity.etag),
            (Role::Skipped, _) => quote_spanned!(field.span()=> <#ty as ::core::default::Default>::default()),
            (Role::Flattened | Role::Rest, _) => quote!(#found),
        }
    }
}
