//! The sections of service properties that only the Blob service has: `DeleteRetentionPolicy` and `StaticWebsite`.

use super::RETENTION_DAYS_MAX;
use super::reading::Element;
use super::writing::{push_boolean, push_element, push_text};
use crate::{ErrorCode, ServiceError};

/// For how long deleted blobs can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteRetention {
    /// From 1 to [`RETENTION_DAYS_MAX`]; `None` is not at all.
    pub days: Option<u16>,
    /// Whether a client may end that time for a blob.
    pub allow_permanent_delete: bool,
}

/// Whether `$web` is served as a website, and with which pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StaticWebsite {
    /// Whether the website is enabled.
    pub enabled: bool,
    /// The name of the index document of each directory.
    pub index_document: Option<String>,
    /// The path of the document for status 404.
    pub error_document_404_path: Option<String>,
    /// The path of the index document for the whole site.
    pub default_index_document_path: Option<String>,
}

impl DeleteRetention {
    pub(super) fn read(section: &Element) -> Result<Self, ServiceError> {
        section.check_children(&["Enabled", "Days", "AllowPermanentDelete"])?;
        let allow_permanent_delete = section.child("AllowPermanentDelete").map(Element::boolean).transpose()?;
        let days = if section.required("Enabled")?.boolean()? {
            let days: i64 = section.required("Days")?.number()?;
            let days = u16::try_from(days).ok().filter(|days| (1..=RETENTION_DAYS_MAX).contains(days));
            Some(days.ok_or(ErrorCode::InvalidXmlDocument)?)
        } else {
            None
        };
        Ok(Self { days, allow_permanent_delete: allow_permanent_delete.unwrap_or(false) })
    }

    pub(super) fn push(&self, out: &mut String) {
        push_element(out, "DeleteRetentionPolicy", |out| {
            push_boolean(out, "Enabled", self.days.is_some());
            if let Some(days) = self.days {
                push_text(out, "Days", &days.to_string());
            }
            if self.allow_permanent_delete {
                push_boolean(out, "AllowPermanentDelete", true);
            }
        });
    }
}

impl StaticWebsite {
    const PAGES: [&str; 3] = ["IndexDocument", "ErrorDocument404Path", "DefaultIndexDocumentPath"];

    pub(super) fn read(section: &Element) -> Result<Self, ServiceError> {
        let [index, error, default] = Self::PAGES;
        section.check_children(&["Enabled", index, error, default])?;
        let page = |name| match section.child(name) {
            Some(element) => Ok(element.value()?.map(str::to_owned)),
            None => Ok::<_, ServiceError>(None),
        };
        Ok(Self {
            enabled: section.required("Enabled")?.boolean()?,
            index_document: page(index)?,
            error_document_404_path: page(error)?,
            default_index_document_path: page(default)?,
        })
    }

    pub(super) fn push(&self, out: &mut String) {
        push_element(out, "StaticWebsite", |out| {
            push_boolean(out, "Enabled", self.enabled);
            let pages = [&self.index_document, &self.error_document_404_path, &self.default_index_document_path];
            for (name, page) in Self::PAGES.into_iter().zip(pages) {
                if let Some(page) = page {
                    push_text(out, name, page);
                }
            }
        });
    }
}
