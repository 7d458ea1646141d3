//! What every service can be asked about itself: properties, stats, and whether a browser may ask at all.

use http::HeaderMap;
use tablerock_protocol::xml::{BOM, GeoReplication, ServicePropertiesUpdate, ServiceStats};
use tablerock_protocol::{ErrorCode, Service, ServiceError};

use crate::answer::Answer;
use crate::cors;
use crate::endpoint::Endpoint;
use crate::pipeline::Server;
use crate::respond::Envelope;

/// A question to a service about itself.
pub(crate) struct ServiceCall<'a> {
    pub(crate) service: Service,
    pub(crate) server: &'a Server,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) envelope: &'a Envelope,
    pub(crate) headers: &'a HeaderMap,
}

impl ServiceCall<'_> {
    fn account(&self) -> &str {
        self.endpoint.account.name.as_str()
    }

    pub(crate) async fn properties(&self) -> Result<Answer, ServiceError> {
        let properties = self.server.settings.service_properties(self.account(), self.service).await;
        let properties = properties.map_err(|error| error.into_service_error())?;
        let xml = properties.render(self.service, self.envelope.version);
        Ok(Answer::xml(200, format!("{BOM}{xml}").into_bytes()))
    }

    pub(crate) async fn set_properties(&self, body: &[u8]) -> Result<Answer, ServiceError> {
        let update = ServicePropertiesUpdate::parse(body, self.service, self.envelope.version)?;
        let set = self.server.settings.set_service_properties(self.account(), self.service, &update).await;
        set.map_err(|error| error.into_service_error())?;
        let Server { analytics, settings, blobs, .. } = self.server;
        let refreshed = analytics.refresh(settings, blobs, self.account(), self.service).await;
        refreshed.map_err(|error| error.into_service_error())?;
        Ok(Answer::empty(202))
    }

    /// Stats are about the secondary, so only it has them. Ours is never behind.
    pub(crate) fn stats(&self) -> Result<Answer, ServiceError> {
        if !self.endpoint.is_secondary {
            return Err(ErrorCode::InvalidQueryParameterValue.into());
        }
        let stats = ServiceStats { geo_replication: GeoReplication::Live { last_sync: self.envelope.now } };
        let xml = stats.render();
        Ok(Answer::xml(200, format!("{BOM}{xml}").into_bytes()))
    }

    pub(crate) async fn preflight(&self) -> Result<Answer, ServiceError> {
        cors::preflight(&self.server.settings, self.service, self.account(), self.headers).await
    }
}
