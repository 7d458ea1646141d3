//! Columns: a function for each field, for filters.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::LitStr;

use super::{Entity, lints};
use crate::attributes::{Role, at};

impl Entity<'_> {
    pub(super) fn columns(&self) -> TokenStream {
        let (ident, vis) = (&self.input.ident, &self.input.vis);
        let (impl_generics, ty_generics, where_clause) = self.input.generics.split_for_impl();
        let lints = lints();
        let functions = self.fields.iter().filter_map(|field| {
            // Filters cannot match encrypted properties.
            if field.encrypt || field.no_column {
                return None;
            }
            let (function, ty) = (field.ident, field.ty);
            // A method of the same name is reported at the field, and a wrong type at the whole type: both are the
            // user's own tokens to the compiler, so each report is the same wherever the type is used.
            let vis = at(function.span(), vis.to_token_stream());
            let (start, end) = (field.span(), field.span_end());
            let krate = at(start, self.krate.clone());
            let property = quote_spanned!(start=> <#ty as #krate::PropertyValue);
            let property = [property, quote_spanned!(end=> >::Edm)].into_iter().collect::<TokenStream>();
            let edm = match field.role {
                Role::Property => property,
                Role::Timestamp => quote_spanned!(start=> #krate::edm::DateTime),
                Role::PartitionKey | Role::RowKey | Role::Json => quote_spanned!(start=> #krate::edm::String),
                Role::Etag | Role::Skipped | Role::Flattened | Role::Rest => return None,
            };
            let head = quote_spanned!(start=> #vis fn #function() -> #krate::Column<#edm);
            let tail = quote_spanned!(end=> >);
            let name = LitStr::new(&field.name, start);
            let text = LitStr::new(&format!("The column `{}`, for filters.", field.name), start);
            Some(quote_spanned! {start=>
                #[doc = #text]
                #[allow(dead_code, reason = "few types use all of their columns")]
                #head #tail {
                    #krate::Column::new(#name)
                }
            })
        });
        quote! {
            #[automatically_derived]
            #lints
            impl #impl_generics #ident #ty_generics #where_clause {
                #(#functions)*
            }
        }
    }
}
