//! `ToProperties` and `TableEntity`: from the fields of a struct to the properties of an entity.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::LitStr;

use super::{Entity, lints};
use crate::attributes::{Role, at};

impl Entity<'_> {
    pub(super) fn impl_to_properties(&self) -> TokenStream {
        let (krate, ident) = (&self.krate, &self.input.ident);
        let (impl_generics, ty_generics, where_clause) = self.input.generics.split_for_impl();
        let lints = lints();
        let puts = self.fields.iter().filter_map(|field| {
            let (ident, name, ty) = (field.ident, LitStr::new(&field.name, field.span()), field.ty);
            let krate = at(field.span(), krate.clone());
            Some(match field.role {
                Role::Property => quote_spanned! {field.span()=>
                    derived::put(entity, #name, <#ty as #krate::PropertyValue>::to_value(&self.#ident))?;
                },
                Role::Json => {
                    quote_spanned!(field.span()=> derived::put_json::<#ty>(entity, #name, &self.#ident)?;)
                }
                Role::Flattened => quote_spanned! {field.span()=>
                    <#ty as #krate::derived::Flatten>::put(&self.#ident, entity)?;
                },
                Role::Rest => {
                    quote_spanned!(field.span()=> #krate::ToProperties::append_to(&self.#ident, entity)?;)
                }
                _ => return None,
            })
        });
        let encrypted = self.fields.iter().filter(|field| field.encrypt).map(|field| &field.name);
        // Only these fields can have the name of another.
        let is_joined = self.has(Role::Flattened) || self.has(Role::Rest);
        let check = is_joined.then(|| quote!(derived::check_unique(entity)?;));
        quote! {
            #[automatically_derived]
            #lints
            impl #impl_generics #krate::ToProperties for #ident #ty_generics #where_clause {
                fn append_to(
                    &self,
                    entity: &mut #krate::Entity,
                ) -> ::core::result::Result<(), #krate::EntityError> {
                    use #krate::derived;
                    #(#puts)*
                    derived::encrypt(entity, &[#(#encrypted),*]);
                    #check
                    ::core::result::Result::Ok(())
                }
            }
        }
    }

    pub(super) fn impl_table_entity(&self) -> TokenStream {
        let (krate, ident) = (&self.krate, &self.input.ident);
        let (impl_generics, ty_generics, where_clause) = self.input.generics.split_for_impl();
        let lints = lints();
        let key = |role| {
            let key = self.with_role(role).map(|field| {
                let (ident, ty) = (field.ident, field.ty);
                let krate = at(field.span(), krate.clone());
                quote_spanned!(field.span()=> <#ty as #krate::EntityKey>::to_key(&self.#ident))
            });
            quote!(#(#key)*)
        };
        let (partition_key, row_key) = (key(Role::PartitionKey), key(Role::RowKey));
        let etag = self.with_role(Role::Etag).map(|field| {
            let etag = field.ident;
            quote!(entity.etag = ::core::clone::Clone::clone(&self.#etag);)
        });
        quote! {
            #[automatically_derived]
            #lints
            impl #impl_generics #krate::TableEntity for #ident #ty_generics #where_clause {
                fn to_entity(&self) -> ::core::result::Result<#krate::Entity, #krate::EntityError> {
                    let mut entity = #krate::Entity::new(#partition_key, #row_key);
                    #(#etag)*
                    #krate::ToProperties::append_to(self, &mut entity)?;
                    ::core::result::Result::Ok(entity)
                }
            }
        }
    }
}
