//! Get Service Stats.

use std::time::UNIX_EPOCH;

use super::reading::Element;
use super::writing::{DECLARATION, push_element, push_text};
use crate::{DateTime, ErrorCode, ServiceError};

/// The stats of a service, which its secondary endpoint returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceStats {
    /// The state of the secondary.
    pub geo_replication: GeoReplication,
}

/// How the secondary follows the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum GeoReplication {
    /// All writes up to this time are on the secondary.
    Live {
        /// The time up to which the secondary has all writes.
        last_sync: DateTime,
    },
    /// The secondary is being filled for the first time.
    Bootstrap,
    /// The secondary is not available.
    Unavailable,
}

impl ServiceStats {
    /// Reads the document.
    #[doc(hidden)]
    pub fn parse(document: &[u8]) -> Result<Self, ServiceError> {
        let root = Element::parse(document)?;
        let geo = root.required("GeoReplication")?;
        let last_sync = geo.child("LastSyncTime").map(Element::value).transpose()?.flatten();
        let geo_replication = match (geo.required("Status")?.value()?, last_sync) {
            (Some("live"), Some(time)) => {
                let time = httpdate::parse_http_date(time).ok().filter(|time| *time >= UNIX_EPOCH);
                GeoReplication::Live { last_sync: time.ok_or(ErrorCode::InvalidXmlNodeValue)?.into() }
            }
            (Some("bootstrap"), _) => GeoReplication::Bootstrap,
            (Some("unavailable"), _) => GeoReplication::Unavailable,
            _ => return Err(ErrorCode::InvalidXmlNodeValue.into()),
        };
        Ok(Self { geo_replication })
    }

    /// The document, without a byte order mark.
    #[doc(hidden)]
    pub fn render(&self) -> String {
        let mut out = DECLARATION.to_owned();
        push_element(&mut out, "StorageServiceStats", |out| {
            push_element(out, "GeoReplication", |out| self.geo_replication.push(out));
        });
        out
    }
}

impl GeoReplication {
    fn push(self, out: &mut String) {
        let (status, last_sync) = match self {
            Self::Live { last_sync } => ("live", last_sync.to_http_date()),
            Self::Bootstrap => ("bootstrap", String::new()),
            Self::Unavailable => ("unavailable", String::new()),
        };
        push_text(out, "Status", status);
        push_text(out, "LastSyncTime", &last_sync);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geo_replication(geo_replication: GeoReplication) -> String {
        let document = ServiceStats { geo_replication }.render();
        let head = r#"<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication>"#;
        let tail = "</GeoReplication></StorageServiceStats>";
        document.strip_prefix(head).unwrap().strip_suffix(tail).unwrap().to_owned()
    }

    #[test]
    fn what_is_rendered_reads_back() {
        let last_sync = DateTime::parse("2020-09-14T16:20:31Z").unwrap();
        for geo_replication in
            [GeoReplication::Live { last_sync }, GeoReplication::Bootstrap, GeoReplication::Unavailable]
        {
            let stats = ServiceStats { geo_replication };
            assert_eq!(ServiceStats::parse(stats.render().as_bytes()), Ok(stats));
        }
        let odd = "<StorageServiceStats><GeoReplication><Status>odd</Status></GeoReplication></StorageServiceStats>";
        assert!(ServiceStats::parse(odd.as_bytes()).is_err());
    }

    #[test]
    fn each_status_has_its_form() {
        let last_sync = DateTime::parse("2020-09-14T16:20:31Z").unwrap();
        let live = "<Status>live</Status><LastSyncTime>Mon, 14 Sep 2020 16:20:31 GMT</LastSyncTime>";
        assert_eq!(geo_replication(GeoReplication::Live { last_sync }), live);
        assert_eq!(geo_replication(GeoReplication::Bootstrap), "<Status>bootstrap</Status><LastSyncTime />");
        assert_eq!(geo_replication(GeoReplication::Unavailable), "<Status>unavailable</Status><LastSyncTime />");
    }
}
