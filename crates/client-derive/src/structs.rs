//! Structs: each field is a property, a key, the Timestamp or the ETag.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{DataStruct, DeriveInput, Error, Field, Fields, Result, Type};

use crate::attributes::{ContainerAttributes, FieldAttributes, Role};

struct EntityField<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    role: Role,
    /// The name of the property in the service.
    name: String,
    encrypt: bool,
    no_column: bool,
}

pub(crate) fn derive(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream> {
    let container = ContainerAttributes::read(&input.attrs)?;
    if container.tag.is_some() {
        return Err(Error::new_spanned(&input.ident, "tag is an attribute of enums"));
    }
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "an entity needs named fields"));
    };
    let fields = named.named.iter().map(|field| EntityField::read(field, &container));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    check(input, &fields)?;

    let from_entity = from_entity(input, &fields);
    let has_key = |role| fields.iter().any(|field| field.role == role);
    let table_entity = match (has_key(Role::PartitionKey), has_key(Role::RowKey)) {
        (true, true) => table_entity(input, &fields),
        // A projection can be read, and has no keys to be written under.
        _ => TokenStream::new(),
    };
    let columns = if container.no_columns { TokenStream::new() } else { columns(input, &fields) };
    Ok(quote! { #from_entity #table_entity #columns })
}

impl<'a> EntityField<'a> {
    fn read(field: &'a Field, container: &ContainerAttributes) -> Result<Self> {
        let attributes = FieldAttributes::read(&field.attrs)?;
        let ident = field.ident.as_ref().expect("named fields have names");
        let plain = ident.to_string();
        let plain = plain.strip_prefix("r#").unwrap_or(&plain);
        let name = match (attributes.role, attributes.rename, container.rename_all) {
            (Role::PartitionKey, ..) => "PartitionKey".to_owned(),
            (Role::RowKey, ..) => "RowKey".to_owned(),
            (Role::Timestamp, ..) => "Timestamp".to_owned(),
            (_, Some(name), _) => name,
            (_, None, Some(case)) => case.apply(plain),
            (_, None, None) => plain.to_owned(),
        };
        if attributes.encrypt && !matches!(attributes.role, Role::Property | Role::Json) {
            return Err(Error::new_spanned(ident, "only properties can be encrypted: remove encrypt"));
        }
        let FieldAttributes { role, encrypt, no_column, .. } = attributes;
        Ok(Self { ident, ty: &field.ty, role, name, encrypt, no_column })
    }

    fn is_property(&self) -> bool {
        matches!(self.role, Role::Property | Role::Json)
    }

    /// Returns the local variable for the value of a property.
    fn found(&self) -> Ident {
        format_ident!("found_{}", self.ident.to_string().trim_start_matches("r#"))
    }
}

fn check(input: &DeriveInput, fields: &[EntityField<'_>]) -> Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if matches!(field.role, Role::Skipped | Role::Etag) {
            continue;
        }
        if fields[..index]
            .iter()
            .any(|earlier| !matches!(earlier.role, Role::Skipped | Role::Etag) && earlier.name == field.name)
        {
            return Err(Error::new_spanned(field.ident, format!("two fields have the name {}", field.name)));
        }
        if field.is_property() && matches!(field.name.as_str(), "PartitionKey" | "RowKey" | "Timestamp") {
            let message = format!("{} is reserved: use partition_key, row_key or timestamp", field.name);
            return Err(Error::new_spanned(field.ident, message));
        }
    }
    let key_count = fields.iter().filter(|field| matches!(field.role, Role::PartitionKey | Role::RowKey)).count();
    let encrypts = fields.iter().any(|field| field.encrypt);
    if key_count < 2 && encrypts {
        return Err(Error::new_spanned(&input.ident, "encrypt needs a struct with partition_key and row_key"));
    }
    Ok(())
}

fn from_entity(input: &DeriveInput, fields: &[EntityField<'_>]) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let ident = &input.ident;
    let properties: Vec<_> = fields.iter().filter(|field| field.is_property()).collect();
    let names = properties.iter().map(|field| &field.name);
    let places = properties.iter().map(|field| {
        let (found, ty) = (field.found(), field.ty);
        quote! { let mut #found: ::core::option::Option<#ty> = ::core::option::Option::None; }
    });
    let arms = properties.iter().map(|field| {
        let (found, name) = (field.found(), &field.name);
        let take = if field.role == Role::Json { quote!(take_json) } else { quote!(take) };
        quote! { #name => #found = ::core::option::Option::Some(derived::#take(#name, property.value)?), }
    });
    let values = fields.iter().map(|field| {
        let (ident, name) = (field.ident, &field.name);
        let value = match field.role {
            Role::Property => {
                let found = field.found();
                quote!(derived::or_absent(#name, #found)?)
            }
            Role::Json => {
                let found = field.found();
                quote!(derived::or_null(#name, #found)?)
            }
            Role::PartitionKey => quote!(derived::key(#name, entity.partition_key)?),
            Role::RowKey => quote!(derived::key(#name, entity.row_key)?),
            Role::Timestamp => quote!(derived::timestamp(entity.timestamp)?),
            Role::Etag => quote!(entity.etag),
            Role::Skipped => quote!(::core::default::Default::default()),
        };
        quote! { #ident: #value }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics ::tablerock_client::FromEntity for #ident #ty_generics #where_clause {
            const SELECT: ::core::option::Option<&'static [&'static str]> =
                ::core::option::Option::Some(&[#(#names),*]);

            fn from_entity(
                mut entity: ::tablerock_client::Entity,
            ) -> ::core::result::Result<Self, ::tablerock_client::EntityError> {
                use ::tablerock_client::derived;
                #(#places)*
                for property in derived::properties(&mut entity) {
                    match ::core::convert::AsRef::<str>::as_ref(&property.name) {
                        #(#arms)*
                        _ => {}
                    }
                }
                ::core::result::Result::Ok(Self { #(#values),* })
            }
        }
    }
}

fn table_entity(input: &DeriveInput, fields: &[EntityField<'_>]) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let ident = &input.ident;
    let encrypted = fields.iter().filter(|field| field.encrypt).map(|field| &field.name);
    let key = |role| {
        let field = fields.iter().find(|field| field.role == role).map(|field| field.ident);
        quote!(::tablerock_client::EntityKey::to_key(&self.#field))
    };
    let (partition_key, row_key) = (key(Role::PartitionKey), key(Role::RowKey));
    let etag = fields.iter().find(|field| field.role == Role::Etag).map(|field| {
        let etag = field.ident;
        quote!(entity.etag = ::core::clone::Clone::clone(&self.#etag);)
    });
    let puts = fields.iter().filter(|field| field.is_property()).map(|field| {
        let (ident, name) = (field.ident, &field.name);
        let put = if field.role == Role::Json { quote!(put_json) } else { quote!(put) };
        quote! { derived::#put(&mut entity, #name, &self.#ident)?; }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics ::tablerock_client::TableEntity for #ident #ty_generics #where_clause {
            fn to_entity(
                &self,
            ) -> ::core::result::Result<::tablerock_client::Entity, ::tablerock_client::EntityError> {
                use ::tablerock_client::derived;
                let mut entity = ::tablerock_client::Entity::new(#partition_key, #row_key);
                #etag
                #(#puts)*
                derived::encrypt(&mut entity, &[#(#encrypted),*]);
                ::core::result::Result::Ok(entity)
            }
        }
    }
}

/// Generates a function for each field that filters can use.
fn columns(input: &DeriveInput, fields: &[EntityField<'_>]) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let (ident, vis) = (&input.ident, &input.vis);
    let functions = fields.iter().filter_map(|field| {
        let (function, name, ty) = (field.ident, &field.name, field.ty);
        let edm = match field.role {
            Role::Property => quote!(<#ty as ::tablerock_client::PropertyValue>::Edm),
            Role::Timestamp => quote!(::tablerock_client::edm::DateTime),
            Role::PartitionKey | Role::RowKey | Role::Json => quote!(::tablerock_client::edm::String),
            Role::Etag | Role::Skipped => return None,
        };
        // Filters cannot match encrypted properties.
        if field.encrypt || field.no_column {
            return None;
        }
        let text = format!("The column `{name}`, for filters.");
        Some(quote! {
            #[doc = #text]
            #[allow(dead_code, reason = "few types use all of their columns")]
            #vis fn #function() -> ::tablerock_client::Column<#edm> {
                ::tablerock_client::Column::new(#name)
            }
        })
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #ident #ty_generics #where_clause {
            #(#functions)*
        }
    }
}
