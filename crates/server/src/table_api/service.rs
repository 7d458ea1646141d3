//! Service properties and stats.

use tablerock_protocol::xml::{BOM, GeoReplication, ServicePropertiesUpdate, ServiceStats};
use tablerock_protocol::{ErrorCode, ServiceError};

use super::Call;
use crate::answer::Answer;

pub(super) async fn properties(call: &Call<'_>) -> Result<Answer, ServiceError> {
    let properties = call.road.settings.table_service_properties(call.account()).await;
    let properties = properties.map_err(|error| error.into_service_error())?;
    let xml = properties.render(call.envelope.version);
    Ok(Answer::xml(200, format!("{BOM}{xml}").into_bytes()))
}

pub(super) async fn set_properties(call: &Call<'_>) -> Result<Answer, ServiceError> {
    let update = ServicePropertiesUpdate::parse(&call.body, call.envelope.version)?;
    let set = call.road.settings.set_table_service_properties(call.account(), &update).await;
    set.map_err(|error| error.into_service_error())?;
    Ok(Answer::empty(202))
}

/// Stats are about the secondary, so only it has them. Ours is never behind.
pub(super) fn stats(call: &Call<'_>) -> Result<Answer, ServiceError> {
    if !call.endpoint.is_secondary {
        return Err(ErrorCode::InvalidQueryParameterValue.into());
    }
    let stats = ServiceStats { geo_replication: GeoReplication::Live { last_sync: call.envelope.now } };
    let xml = stats.render();
    Ok(Answer::xml(200, format!("{BOM}{xml}").into_bytes()))
}
