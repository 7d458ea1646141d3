//! Which parts of analytics a service has switched on, in a form that every request can look at.

use std::sync::atomic::{AtomicU8, Ordering};

use tablerock_protocol::Service;
use tablerock_protocol::analytics::RequestKind;
use tablerock_protocol::xml::{AnalyticsVersion, MetricsLevel, ServiceProperties};

const READ: u8 = 1;
const WRITE: u8 = 2;
const DELETE: u8 = 4;
const METRICS: u8 = 8;
const VERSION_2: u8 = 16;

/// Nothing is ordered by a switch, so it is read and set as cheaply as can be.
#[derive(Debug, Default)]
pub(super) struct Switches(AtomicU8);

impl Switches {
    pub(super) fn set(&self, service: Service, properties: &ServiceProperties) {
        let logging = &properties.logging;
        let is_metered = [&properties.hour_metrics, &properties.minute_metrics]
            .into_iter()
            .any(|metrics| metrics.level != MetricsLevel::Off);
        // Logs of tables have one version.
        let is_version_2 = logging.version == AnalyticsVersion::V2_0 && service != Service::Table;
        let switches = [
            (logging.read, READ),
            (logging.write, WRITE),
            (logging.delete, DELETE),
            (is_metered, METRICS),
            (is_version_2 && (logging.read || logging.write || logging.delete), VERSION_2),
        ];
        let bits = switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, bit)| bit).sum();
        self.0.store(bits, Ordering::Relaxed);
    }

    pub(super) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    pub(super) fn metrics(&self) -> bool {
        self.0.load(Ordering::Relaxed) & METRICS != 0
    }

    /// The version of the entries, if requests of this kind are logged.
    pub(super) fn logging(&self, kind: RequestKind) -> Option<AnalyticsVersion> {
        let bit = match kind {
            RequestKind::Read => READ,
            RequestKind::Write => WRITE,
            RequestKind::Delete => DELETE,
        };
        let bits = self.0.load(Ordering::Relaxed);
        let version = if bits & VERSION_2 == 0 { AnalyticsVersion::V1_0 } else { AnalyticsVersion::V2_0 };
        (bits & bit != 0).then_some(version)
    }
}
