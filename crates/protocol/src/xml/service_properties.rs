//! Get and Set Service Properties.

use super::reading::Element;
use super::writing::{DECLARATION, push_element};
use super::{Logging, Metrics, MetricsLevel, cors_rules};
use crate::cors::CorsRule;
use crate::{ErrorCode, ServiceError, ServiceVersion};

const ROOT: &str = "StorageServiceProperties";

/// The properties of a service. The default is what a new account has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceProperties {
    pub logging: Logging,
    pub hour_metrics: Metrics,
    pub minute_metrics: Metrics,
    pub cors: Vec<CorsRule>,
}

/// What a Set Service Properties changes: the sections that its body has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServicePropertiesUpdate {
    pub logging: Option<Logging>,
    pub hour_metrics: Option<Metrics>,
    pub minute_metrics: Option<Metrics>,
    /// An empty list removes all rules.
    pub cors: Option<Vec<CorsRule>>,
}

impl Default for ServiceProperties {
    fn default() -> Self {
        Self {
            logging: Logging::default(),
            hour_metrics: Metrics {
                level: MetricsLevel::ServiceAndApis,
                retention_days: Some(7),
                ..Metrics::default()
            },
            minute_metrics: Metrics::default(),
            cors: Vec::new(),
        }
    }
}

impl ServiceProperties {
    /// Reads a document of the current form; sections that it lacks have their defaults.
    pub fn parse(document: &[u8]) -> Result<Self, ServiceError> {
        let mut properties = Self::default();
        ServicePropertiesUpdate::parse(document, ServiceVersion::LATEST)?.apply(&mut properties);
        Ok(properties)
    }

    /// The document in the form of a version of the protocol, without a byte order mark. Before
    /// [`ServiceVersion::CORS`] there was one kind of metrics and no CORS.
    pub fn render(&self, version: ServiceVersion) -> String {
        let mut out = DECLARATION.to_owned();
        push_element(&mut out, ROOT, |out| {
            self.logging.push(out);
            if version < ServiceVersion::CORS {
                self.hour_metrics.push(out, "Metrics");
                return;
            }
            self.hour_metrics.push(out, "HourMetrics");
            self.minute_metrics.push(out, "MinuteMetrics");
            cors_rules::push(out, &self.cors);
        });
        out
    }
}

impl ServicePropertiesUpdate {
    /// Reads the body of a Set Service Properties in the form of a version of the protocol.
    pub fn parse(document: &[u8], version: ServiceVersion) -> Result<Self, ServiceError> {
        let root = Element::parse(document)?;
        if !root.is_named(ROOT) || root.children().is_empty() {
            return Err(ErrorCode::InvalidXmlDocument.into());
        }
        if version < ServiceVersion::CORS { Self::read_early(&root) } else { Self::read(&root) }
    }

    fn read(root: &Element) -> Result<Self, ServiceError> {
        root.check_children(&["Logging", "HourMetrics", "MinuteMetrics", "Cors"])?;
        Ok(Self {
            logging: root.child("Logging").map(Logging::read).transpose()?,
            hour_metrics: root.child("HourMetrics").map(Metrics::read).transpose()?,
            minute_metrics: root.child("MinuteMetrics").map(Metrics::read).transpose()?,
            cors: root.child("Cors").map(cors_rules::read).transpose()?,
        })
    }

    /// The form before [`ServiceVersion::CORS`], which has to be complete.
    fn read_early(root: &Element) -> Result<Self, ServiceError> {
        root.check_children(&["Logging", "Metrics"])?;
        Ok(Self {
            logging: Some(Logging::read(root.required("Logging")?)?),
            hour_metrics: Some(Metrics::read(root.required("Metrics")?)?),
            ..Self::default()
        })
    }

    /// Changes the sections that were given and leaves the others alone.
    pub fn apply(self, properties: &mut ServiceProperties) {
        let Self { logging, hour_metrics, minute_metrics, cors } = self;
        replace(&mut properties.logging, logging);
        replace(&mut properties.hour_metrics, hour_metrics);
        replace(&mut properties.minute_metrics, minute_metrics);
        replace(&mut properties.cors, cors);
    }
}

fn replace<T>(section: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *section = given;
    }
}
