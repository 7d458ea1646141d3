//! What every service has: its properties, its stats, and CORS preflights.

use tablerock_protocol::xml::{BOM, DeleteRetention, GeoReplication, ServicePropertiesUpdate, ServiceStats};
use tablerock_protocol::{ContainerName, ErrorCode, ServiceError};

use crate::call::Call;
use crate::http::cors;
use crate::http::reply::Reply;
use crate::pipeline::Server;

pub(crate) async fn get<B>(call: &Call<'_, B>) -> Result<Reply, ServiceError> {
    let properties = call.server().settings.service_properties(call.account(), call.cx.service).await?;
    let xml = properties.render(call.cx.service, call.cx.version);
    Ok(Reply::xml(200, format!("{BOM}{xml}").into_bytes()))
}

pub(crate) async fn set<B>(call: &Call<'_, B>, body: &[u8]) -> Result<Reply, ServiceError> {
    let (account, service) = (call.account(), call.cx.service);
    let Server { analytics, settings, blobs, .. } = call.server();
    let update = ServicePropertiesUpdate::parse(body, service, call.cx.version)?;
    if !call.server().is_loose {
        check_served(&update)?;
    }
    if update.static_website.as_ref().is_some_and(|website| website.enabled) {
        blobs.ensure_container(account, ContainerName::WEB).await?;
    }
    settings.set_service_properties(account, service, &update).await?;
    analytics.refresh(settings, blobs, account, service).await?;
    Ok(Reply::empty(202))
}

/// Rejects settings of a feature that this server does not have. Stored and shown, they would promise it.
fn check_served(update: &ServicePropertiesUpdate) -> Result<(), ServiceError> {
    match &update.delete_retention {
        Some(retention) if *retention != DeleteRetention::default() => {
            Err(ServiceError::new(ErrorCode::UnsupportedXmlNode).detail("XmlNodeName", "DeleteRetentionPolicy"))
        }
        _ => Ok(()),
    }
}

/// Stats are about the secondary, so only it has them. Ours is never behind.
pub(crate) fn stats<B>(call: &Call<'_, B>) -> Result<Reply, ServiceError> {
    if !call.endpoint.is_secondary {
        return Err(ErrorCode::InvalidQueryParameterValue.into());
    }
    let stats = ServiceStats { geo_replication: GeoReplication::Live { last_sync: call.cx.now } };
    Ok(Reply::xml(200, format!("{BOM}{}", stats.render()).into_bytes()))
}

pub(crate) async fn preflight<B>(call: &Call<'_, B>) -> Result<Reply, ServiceError> {
    cors::preflight(&call.server().settings, call.cx.service, call.account(), call.headers).await
}
