//! Stored access policies: the ACL of a table, and of queues and containers as well.

use super::reading::Element;
use super::writing::{BOM, DECLARATION, push_element, push_text};
use crate::{DateTime, ErrorCode, ServiceError, utf16_len};

const ROOT: &str = "SignedIdentifiers";
const IDENTIFIER: &str = "SignedIdentifier";

/// Policies of one resource.
pub const ACCESS_POLICIES_MAX: usize = 5;
/// The id of a policy, in UTF-16 code units.
pub const ACCESS_POLICY_ID_UNITS_MAX: usize = 64;

/// A policy that a SAS can refer to by its id. The SAS has to give the fields that the policy omits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccessPolicy {
    /// The id that a SAS refers to.
    pub id: String,
    /// The time from which tokens are valid.
    pub start: Option<DateTime>,
    /// The time until which tokens are valid.
    pub expiry: Option<DateTime>,
    /// The letters as they were set; which ones exist depends on the service.
    pub permissions: Option<String>,
}

/// The policies of one resource, in the order in which they were set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredAccessPolicies {
    /// The policies, in their order.
    pub policies: Vec<StoredAccessPolicy>,
}

impl StoredAccessPolicies {
    /// Reads the body of a Set ACL, in which an empty body means no policies. `letters` are the permissions that
    /// the resource knows.
    pub fn parse(document: &[u8], letters: &str) -> Result<Self, ServiceError> {
        let document = document.strip_prefix(BOM.as_bytes()).unwrap_or(document);
        if document.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        let root = Element::parse(document)?;
        if !root.is_named(ROOT) {
            return Err(ErrorCode::InvalidXmlDocument.into());
        }
        root.check_list_of(IDENTIFIER)?;
        if root.children().len() > ACCESS_POLICIES_MAX {
            return Err(ErrorCode::InvalidXmlDocument.into());
        }
        let read = |identifier| StoredAccessPolicy::read(identifier, letters);
        let policies = Self { policies: root.children().iter().map(read).collect::<Result<_, _>>()? };
        policies.check_ids()?;
        Ok(policies)
    }

    fn check_ids(&self) -> Result<(), ServiceError> {
        for (place, policy) in self.policies.iter().enumerate() {
            let is_repeated = self.policies[..place].iter().any(|earlier| earlier.id == policy.id);
            if is_repeated || utf16_len(&policy.id) > ACCESS_POLICY_ID_UNITS_MAX {
                return Err(ErrorCode::InvalidXmlDocument.into());
            }
        }
        Ok(())
    }

    /// The policy with an id; case matters.
    pub fn find(&self, id: &str) -> Option<&StoredAccessPolicy> {
        self.policies.iter().find(|policy| policy.id == id)
    }

    /// The document of a Get ACL, without a byte order mark.
    pub fn render(&self) -> String {
        let mut out = DECLARATION.to_owned();
        push_element(&mut out, ROOT, |out| {
            for policy in &self.policies {
                push_element(out, IDENTIFIER, |out| policy.push(out));
            }
        });
        out
    }
}

impl StoredAccessPolicy {
    fn read(identifier: &Element, letters: &str) -> Result<Self, ServiceError> {
        identifier.check_children(&["Id", "AccessPolicy"])?;
        let id = identifier.required("Id")?.text()?.to_owned();
        if id.is_empty() {
            return Err(ErrorCode::InvalidXmlNodeValue.into());
        }
        let Some(policy) = identifier.child("AccessPolicy") else {
            return Ok(Self { id, start: None, expiry: None, permissions: None });
        };
        policy.check_children(&["Start", "Expiry", "Permission"])?;
        Ok(Self {
            id,
            start: read_time(policy.child("Start"))?,
            expiry: read_time(policy.child("Expiry"))?,
            permissions: read_permissions(policy.child("Permission"), letters)?,
        })
    }

    /// The service leaves out what is not set, down to the whole `AccessPolicy`.
    fn push(&self, out: &mut String) {
        push_text(out, "Id", &self.id);
        if self.start.is_none() && self.expiry.is_none() && self.permissions.is_none() {
            return;
        }
        push_element(out, "AccessPolicy", |out| {
            if let Some(start) = self.start {
                push_text(out, "Start", &start.to_seven_digits());
            }
            if let Some(expiry) = self.expiry {
                push_text(out, "Expiry", &expiry.to_seven_digits());
            }
            if let Some(permissions) = &self.permissions {
                push_text(out, "Permission", permissions);
            }
        });
    }
}

fn read_time(element: Option<&Element>) -> Result<Option<DateTime>, ServiceError> {
    let Some(value) = element.map(Element::value).transpose()?.flatten() else { return Ok(None) };
    DateTime::parse(value).map(Some).map_err(|_| ErrorCode::InvalidXmlNodeValue.into())
}

fn read_permissions(element: Option<&Element>, letters: &str) -> Result<Option<String>, ServiceError> {
    let Some(value) = element.map(Element::value).transpose()?.flatten() else { return Ok(None) };
    if value.chars().all(|letter| letters.contains(letter)) {
        Ok(Some(value.to_owned()))
    } else {
        Err(ErrorCode::InvalidXmlDocument.into())
    }
}
