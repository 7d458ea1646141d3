//! Get and Set Service Properties.

use super::reading::Element;
use super::writing::{DECLARATION, push_element, push_text};
use super::{DeleteRetention, Logging, Metrics, MetricsLevel, StaticWebsite, cors_rules};
use crate::cors::CorsRule;
use crate::{ErrorCode, Service, ServiceError, ServiceVersion};

const ROOT: &str = "StorageServiceProperties";
const DEFAULT_VERSION: &str = "DefaultServiceVersion";

/// The properties of a service. The default is what a new account has. Those of blobs alone mean nothing elsewhere:
/// the documents of the other services have no place for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceProperties {
    /// The logging settings.
    pub logging: Logging,
    /// The metrics per hour.
    pub hour_metrics: Metrics,
    /// The metrics per minute.
    pub minute_metrics: Metrics,
    /// The CORS rules.
    pub cors: Vec<CorsRule>,
    /// For blobs: when they can be brought back.
    pub delete_retention: DeleteRetention,
    /// For blobs: whether they are a website.
    pub static_website: StaticWebsite,
    /// For blobs: the version of requests that name none.
    pub default_service_version: Option<ServiceVersion>,
}

/// The sections that a Set Service Properties replaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServicePropertiesUpdate {
    /// The logging settings.
    pub logging: Option<Logging>,
    /// The metrics per hour.
    pub hour_metrics: Option<Metrics>,
    /// The metrics per minute.
    pub minute_metrics: Option<Metrics>,
    /// An empty list removes all rules.
    pub cors: Option<Vec<CorsRule>>,
    /// The soft delete settings.
    pub delete_retention: Option<DeleteRetention>,
    /// The static website settings.
    pub static_website: Option<StaticWebsite>,
    /// The version of requests that name none.
    pub default_service_version: Option<ServiceVersion>,
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
            delete_retention: DeleteRetention::default(),
            static_website: StaticWebsite::default(),
            default_service_version: None,
        }
    }
}

impl ServiceProperties {
    /// Reads a document of the current form; sections that it lacks have their defaults.
    #[doc(hidden)]
    pub fn parse(document: &[u8], service: Service) -> Result<Self, ServiceError> {
        let mut properties = Self::default();
        ServicePropertiesUpdate::parse(document, service, ServiceVersion::LATEST)?.apply(&mut properties);
        Ok(properties)
    }

    /// The document in the form of a version of the protocol, without a byte order mark. Before
    /// [`ServiceVersion::CORS`] there was one kind of metrics and no CORS.
    #[doc(hidden)]
    pub fn render(&self, service: Service, version: ServiceVersion) -> String {
        let mut out = DECLARATION.to_owned();
        push_element(&mut out, ROOT, |out| {
            self.logging.push(out);
            if version < ServiceVersion::CORS {
                self.hour_metrics.push(out, "Metrics");
            } else {
                self.hour_metrics.push(out, "HourMetrics");
                self.minute_metrics.push(out, "MinuteMetrics");
                cors_rules::push(out, &self.cors);
            }
            if service == Service::Blob {
                self.push_blob_sections(out, version);
            }
        });
        out
    }

    fn push_blob_sections(&self, out: &mut String, version: ServiceVersion) {
        if version >= ServiceVersion::CORS {
            self.delete_retention.push(out);
            self.static_website.push(out);
        }
        if let Some(version) = self.default_service_version {
            push_text(out, DEFAULT_VERSION, &version.to_string());
        }
    }
}

impl ServicePropertiesUpdate {
    /// Reads the body of a Set Service Properties in the form of a version of the protocol.
    #[doc(hidden)]
    pub fn parse(document: &[u8], service: Service, version: ServiceVersion) -> Result<Self, ServiceError> {
        let root = Element::parse(document)?;
        if !root.is_named(ROOT) || root.children().is_empty() {
            return Err(ErrorCode::InvalidXmlDocument.into());
        }
        if version < ServiceVersion::CORS { Self::read_early(&root, service) } else { Self::read(&root, service) }
    }

    fn read(root: &Element, service: Service) -> Result<Self, ServiceError> {
        let own: &[&str] = match service {
            Service::Blob => &["DeleteRetentionPolicy", "StaticWebsite", DEFAULT_VERSION],
            Service::Queue | Service::Table => &[],
        };
        root.check_children(&[&["Logging", "HourMetrics", "MinuteMetrics", "Cors"], own].concat())?;
        Ok(Self {
            logging: root.child("Logging").map(Logging::read).transpose()?,
            hour_metrics: root.child("HourMetrics").map(Metrics::read).transpose()?,
            minute_metrics: root.child("MinuteMetrics").map(Metrics::read).transpose()?,
            cors: root.child("Cors").map(cors_rules::read).transpose()?,
            delete_retention: root.child("DeleteRetentionPolicy").map(DeleteRetention::read).transpose()?,
            static_website: root.child("StaticWebsite").map(StaticWebsite::read).transpose()?,
            default_service_version: read_default_version(root)?,
        })
    }

    /// The form before [`ServiceVersion::CORS`], which has to be complete.
    fn read_early(root: &Element, service: Service) -> Result<Self, ServiceError> {
        let known: &[&str] = match service {
            Service::Blob => &["Logging", "Metrics", DEFAULT_VERSION],
            Service::Queue | Service::Table => &["Logging", "Metrics"],
        };
        root.check_children(known)?;
        Ok(Self {
            logging: Some(Logging::read(root.required("Logging")?)?),
            hour_metrics: Some(Metrics::read(root.required("Metrics")?)?),
            default_service_version: read_default_version(root)?,
            ..Self::default()
        })
    }

    /// The body of a Set Service Properties, in the current form of the protocol.
    #[doc(hidden)]
    pub fn render(&self, service: Service) -> String {
        let mut out = DECLARATION.to_owned();
        push_element(&mut out, ROOT, |out| {
            if let Some(logging) = &self.logging {
                logging.push(out);
            }
            if let Some(metrics) = &self.hour_metrics {
                metrics.push(out, "HourMetrics");
            }
            if let Some(metrics) = &self.minute_metrics {
                metrics.push(out, "MinuteMetrics");
            }
            if let Some(rules) = &self.cors {
                cors_rules::push(out, rules);
            }
            if service == Service::Blob {
                self.push_blob_sections(out);
            }
        });
        out
    }

    fn push_blob_sections(&self, out: &mut String) {
        if let Some(retention) = &self.delete_retention {
            retention.push(out);
        }
        if let Some(website) = &self.static_website {
            website.push(out);
        }
        if let Some(version) = self.default_service_version {
            push_text(out, DEFAULT_VERSION, &version.to_string());
        }
    }

    /// Changes the sections that were given and leaves the others alone.
    #[doc(hidden)]
    pub fn apply(self, properties: &mut ServiceProperties) {
        replace(&mut properties.logging, self.logging);
        replace(&mut properties.hour_metrics, self.hour_metrics);
        replace(&mut properties.minute_metrics, self.minute_metrics);
        replace(&mut properties.cors, self.cors);
        replace(&mut properties.delete_retention, self.delete_retention);
        replace(&mut properties.static_website, self.static_website);
        replace(&mut properties.default_service_version, self.default_service_version.map(Some));
    }
}

/// SDKs write an empty element for an absent value.
fn read_default_version(root: &Element) -> Result<Option<ServiceVersion>, ServiceError> {
    let Some(text) = root.child(DEFAULT_VERSION).map(Element::value).transpose()?.flatten() else { return Ok(None) };
    text.parse().map(Some).map_err(|_| ErrorCode::InvalidXmlNodeValue.into())
}

fn replace<T>(section: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *section = given;
    }
}
