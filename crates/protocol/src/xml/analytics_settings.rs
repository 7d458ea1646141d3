//! The sections of service properties that steer Storage Analytics: `Logging`, `HourMetrics`, `MinuteMetrics`.

use super::reading::Element;
use super::writing::{push_boolean, push_element, push_text};
use crate::{ErrorCode, ServiceError};

/// The longest that analytics data can be kept.
pub const RETENTION_DAYS_MAX: u16 = 365;

/// The version of Storage Analytics of a section. Logs of version 2.0 exist for blobs and queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum AnalyticsVersion {
    /// Version 1.0.
    #[default]
    V1_0,
    /// Version 2.0.
    V2_0,
}

/// Which requests are logged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Logging {
    /// The version of the log.
    pub version: AnalyticsVersion,
    /// Whether reads are logged.
    pub read: bool,
    /// Whether writes are logged.
    pub write: bool,
    /// Whether deletions are logged.
    pub delete: bool,
    /// For how long, from 1 to [`RETENTION_DAYS_MAX`]; `None` keeps logs for ever.
    pub retention_days: Option<u16>,
}

/// Which requests are counted, by the hour or by the minute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metrics {
    /// The version of the metrics.
    pub version: AnalyticsVersion,
    /// The amount of metrics.
    pub level: MetricsLevel,
    /// For how long, from 1 to [`RETENTION_DAYS_MAX`]; `None` keeps metrics for ever.
    pub retention_days: Option<u16>,
}

/// How finely requests are counted. On the wire this is `Enabled`, and `IncludeAPIs` when that is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum MetricsLevel {
    /// No metrics.
    #[default]
    Off,
    /// All requests of the service together.
    Service,
    /// Each operation by itself, too.
    ServiceAndApis,
}

impl AnalyticsVersion {
    /// Returns the version as the wire has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V2_0 => "2.0",
        }
    }

    /// Several SDKs leave the version out of metrics.
    fn read(section: &Element) -> Result<Self, ServiceError> {
        match section.child("Version").map(Element::value).transpose()?.flatten() {
            None | Some("1.0") => Ok(Self::V1_0),
            Some("2.0") => Ok(Self::V2_0),
            Some(_) => Err(ErrorCode::InvalidXmlNodeValue.into()),
        }
    }
}

impl Logging {
    pub(super) fn read(section: &Element) -> Result<Self, ServiceError> {
        section.check_children(&["Version", "Read", "Write", "Delete", "RetentionPolicy"])?;
        Ok(Self {
            version: AnalyticsVersion::read(section)?,
            read: section.required("Read")?.boolean()?,
            write: section.required("Write")?.boolean()?,
            delete: section.required("Delete")?.boolean()?,
            retention_days: read_retention(section.required("RetentionPolicy")?)?,
        })
    }

    pub(super) fn push(&self, out: &mut String) {
        push_element(out, "Logging", |out| {
            push_text(out, "Version", self.version.as_str());
            push_boolean(out, "Read", self.read);
            push_boolean(out, "Write", self.write);
            push_boolean(out, "Delete", self.delete);
            push_retention(out, self.retention_days);
        });
    }
}

impl Metrics {
    pub(super) fn read(section: &Element) -> Result<Self, ServiceError> {
        section.check_children(&["Version", "Enabled", "IncludeAPIs", "RetentionPolicy"])?;
        Ok(Self {
            version: AnalyticsVersion::read(section)?,
            level: MetricsLevel::read(section)?,
            retention_days: section.child("RetentionPolicy").map(read_retention).transpose()?.flatten(),
        })
    }

    /// `name` is the section's: it differs by granularity and by the version of the protocol.
    pub(super) fn push(&self, out: &mut String, name: &str) {
        push_element(out, name, |out| {
            push_text(out, "Version", self.version.as_str());
            push_boolean(out, "Enabled", self.level != MetricsLevel::Off);
            if self.level != MetricsLevel::Off {
                push_boolean(out, "IncludeAPIs", self.level == MetricsLevel::ServiceAndApis);
            }
            push_retention(out, self.retention_days);
        });
    }
}

impl MetricsLevel {
    fn read(section: &Element) -> Result<Self, ServiceError> {
        let enabled = section.required("Enabled")?.boolean()?;
        let include_apis = section.child("IncludeAPIs").map(Element::boolean).transpose()?;
        match (enabled, include_apis) {
            (true, None) => Err(ErrorCode::MissingRequiredXmlNode.into()),
            (true, Some(false)) => Ok(Self::Service),
            (true, Some(true)) => Ok(Self::ServiceAndApis),
            // The element should be absent then, yet some SDKs always write it.
            (false, None | Some(false)) => Ok(Self::Off),
            (false, Some(true)) => Err(ErrorCode::InvalidXmlDocument.into()),
        }
    }
}

/// The days of a policy that is not enabled mean nothing; some SDKs write `0` there.
fn read_retention(policy: &Element) -> Result<Option<u16>, ServiceError> {
    policy.check_children(&["Enabled", "Days"])?;
    if !policy.required("Enabled")?.boolean()? {
        return Ok(None);
    }
    let days: i64 = policy.required("Days")?.number()?;
    let days = u16::try_from(days).ok().filter(|days| (1..=RETENTION_DAYS_MAX).contains(days));
    days.map(Some).ok_or_else(|| ErrorCode::InvalidXmlDocument.into())
}

fn push_retention(out: &mut String, days: Option<u16>) {
    push_element(out, "RetentionPolicy", |out| {
        push_boolean(out, "Enabled", days.is_some());
        if let Some(days) = days {
            push_text(out, "Days", &days.to_string());
        }
    });
}
