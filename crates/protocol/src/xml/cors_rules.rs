//! The `Cors` section of service properties.

use super::reading::Element;
use super::writing::{push_element, push_text};
use crate::cors::{CorsMethod, CorsRule};
use crate::{ErrorCode, ServiceError};

/// Rules of one service.
pub const CORS_RULES_MAX: usize = 5;
/// All values of all rules together, without the tags around them.
pub const CORS_BYTES_MAX: usize = 2048;
/// One origin or one header.
pub const CORS_VALUE_CHARS_MAX: usize = 256;
/// Origins of one rule.
pub const CORS_ORIGINS_MAX: usize = 64;
/// Headers of one list that are written in full.
pub const CORS_LITERAL_HEADERS_MAX: usize = 64;
/// Headers of one list that are written as `prefix*`.
pub const CORS_PREFIXED_HEADERS_MAX: usize = 2;

pub(super) fn read(section: &Element) -> Result<Vec<CorsRule>, ServiceError> {
    section.check_list_of("CorsRule")?;
    let rules = section.children();
    let bytes: usize =
        rules.iter().flat_map(Element::children).filter_map(|value| value.text().ok()).map(str::len).sum();
    if rules.len() > CORS_RULES_MAX || bytes > CORS_BYTES_MAX {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    rules.iter().map(read_rule).collect()
}

fn read_rule(rule: &Element) -> Result<CorsRule, ServiceError> {
    rule.check_children(&["AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders", "MaxAgeInSeconds"])?;
    Ok(CorsRule {
        allowed_origins: read_origins(rule.required("AllowedOrigins")?)?,
        allowed_methods: read_methods(rule.required("AllowedMethods")?)?,
        allowed_headers: read_headers(rule.required("AllowedHeaders")?)?,
        exposed_headers: read_headers(rule.required("ExposedHeaders")?)?,
        // The service keeps it in a signed 32-bit number.
        max_age_seconds: rule
            .required("MaxAgeInSeconds")?
            .number()
            .ok()
            .filter(|seconds| *seconds <= i32::MAX as u32)
            .ok_or(ErrorCode::InvalidXmlNodeValue)?,
    })
}

fn read_origins(list: &Element) -> Result<Vec<String>, ServiceError> {
    let origins = read_values(list)?;
    if origins.is_empty() {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    if origins.len() > CORS_ORIGINS_MAX {
        return Err(ErrorCode::InvalidXmlNodeValue.into());
    }
    Ok(origins)
}

fn read_methods(list: &Element) -> Result<Vec<CorsMethod>, ServiceError> {
    let methods = read_values(list)?;
    if methods.is_empty() {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    methods.iter().map(|name| CorsMethod::parse(name).ok_or_else(|| ErrorCode::InvalidXmlNodeValue.into())).collect()
}

fn read_headers(list: &Element) -> Result<Vec<String>, ServiceError> {
    let headers = read_values(list)?;
    let is_wild = |header: &&String| header.contains('*');
    if headers.iter().filter(is_wild).any(|header| header.find('*') != Some(header.len() - 1)) {
        return Err(ErrorCode::InvalidXmlNodeValue.into());
    }
    let prefixed = headers.iter().filter(is_wild).filter(|header| *header != "*").count();
    let literal = headers.len() - headers.iter().filter(is_wild).count();
    if prefixed > CORS_PREFIXED_HEADERS_MAX || literal > CORS_LITERAL_HEADERS_MAX {
        return Err(ErrorCode::InvalidXmlNodeValue.into());
    }
    Ok(headers)
}

/// The values between the commas. Each will stand in a header one day, so it is visible ASCII.
fn read_values(list: &Element) -> Result<Vec<String>, ServiceError> {
    let values = list.text()?.split(',').map(str::trim_ascii).filter(|value| !value.is_empty());
    let checked = values.map(|value| {
        if value.len() > CORS_VALUE_CHARS_MAX {
            return Err(ErrorCode::InvalidXmlDocument.into());
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ErrorCode::InvalidXmlNodeValue.into());
        }
        Ok(value.to_owned())
    });
    checked.collect()
}

/// Appends the section, its elements in the order in which the service writes them.
pub(super) fn push(out: &mut String, rules: &[CorsRule]) {
    push_element(out, "Cors", |out| {
        for rule in rules {
            push_element(out, "CorsRule", |out| {
                let methods: Vec<&str> = rule.allowed_methods.iter().map(|method| method.as_str()).collect();
                push_text(out, "AllowedMethods", &methods.join(","));
                push_text(out, "AllowedOrigins", &rule.allowed_origins.join(","));
                push_text(out, "AllowedHeaders", &rule.allowed_headers.join(","));
                push_text(out, "ExposedHeaders", &rule.exposed_headers.join(","));
                push_text(out, "MaxAgeInSeconds", &rule.max_age_seconds.to_string());
            });
        }
    });
}
