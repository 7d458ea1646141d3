//! The attributes `#[entity(…)]` of structs, fields, enums and variants.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Path, Result};

use crate::case::Case;

/// The attributes of a struct or an enum.
#[derive(Default)]
pub(crate) struct ContainerAttributes {
    pub(crate) rename_all: Option<(Case, Span)>,
    pub(crate) no_columns: Option<Span>,
    pub(crate) tag: Option<(String, Span)>,
    krate: Option<Path>,
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
    /// The properties of another struct.
    Flattened,
    /// All properties that no other field has.
    Rest,
}

/// The source of the value of a missing property.
pub(crate) enum DefaultValue {
    Trait,
    Function(Path),
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) role: Role,
    pub(crate) rename: Option<String>,
    pub(crate) default: Option<DefaultValue>,
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
            let span = meta.path.get_ident().map_or_else(Span::call_site, |ident| ident.span());
            if meta.path.is_ident("rename_all") {
                let text: LitStr = meta.value()?.parse()?;
                read.rename_all = Some((Case::parse(&text)?, text.span()));
            } else if meta.path.is_ident("no_columns") {
                read.no_columns = Some(span);
            } else if meta.path.is_ident("tag") {
                read.tag = Some((text(&meta)?, span));
            } else if meta.path.is_ident("crate") {
                read.krate = Some(path(&meta)?);
            } else {
                return Err(meta.error(
                    "unknown attribute: expected rename_all, crate, on a struct no_columns, or on an enum tag",
                ));
            }
            Ok(())
        })?;
        Ok(read)
    }

    /// Returns the path of the client crate.
    pub(crate) fn krate(&self) -> TokenStream {
        self.krate.as_ref().map_or_else(|| quote!(::tablerock_client), |path| path.to_token_stream())
    }

    /// Rejects the attributes that only other kinds of types have.
    pub(crate) fn check_no_columns_and_tag(&self) -> Result<()> {
        match (self.no_columns, &self.tag) {
            (Some(span), _) => Err(Error::new(span, "no_columns is an attribute of structs with columns: remove it")),
            (None, Some((_, span))) => Err(Error::new(*span, "tag is an attribute of enums of entities: remove it")),
            (None, None) => Ok(()),
        }
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
                "flatten" => Role::Flattened,
                "rest" => Role::Rest,
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
                "default" => {
                    let has_path = meta.input.peek(syn::Token![=]);
                    let function = if has_path { DefaultValue::Function(path(&meta)?) } else { DefaultValue::Trait };
                    read.default = Some(function);
                    return Ok(());
                }
                _ => {
                    return Err(meta.error(
                        "unknown attribute: expected partition_key, row_key, timestamp, etag, rename, default, skip, json, \
                         flatten, rest, encrypt or no_column",
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

fn each(attributes: &[Attribute], mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    let mut own = attributes.iter().filter(|attribute| attribute.path().is_ident("entity"));
    own.try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<String> {
    Ok(meta.value()?.parse::<LitStr>()?.value())
}

/// Parses a path, plain or, as serde has it, in quotation marks.
fn path(meta: &ParseNestedMeta<'_>) -> Result<Path> {
    match meta.value()?.parse::<Expr>()? {
        Expr::Path(path) if path.qself.is_none() => Ok(path.path),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse(),
        other => Err(Error::new_spanned(other, "expected a path")),
    }
}

/// Moves tokens to another place, where the compiler reports their errors.
pub(crate) fn at(span: Span, tokens: TokenStream) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            let mut inner = Group::new(group.delimiter(), at(span, group.stream()));
            inner.set_span(span);
            return TokenTree::Group(inner);
        }
        token.set_span(span);
        token
    });
    moved.collect()
}
