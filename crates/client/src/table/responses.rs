//! Entities in responses.

use tablerock_protocol::json;

use crate::entity::KnownNames;
use crate::pipeline::ServiceResponse;
use crate::{Entity, Error, Etag, Result};

/// Parses a single entity, whose ETag may be in the header only. The names are those that its properties may have.
pub(super) fn entity(response: &ServiceResponse, names: KnownNames) -> Result<Entity> {
    let parsed = json::parse_answered_entity(&response.body).map_err(|error| Error::invalid_response(&error))?;
    let mut entity = Entity::from_response(parsed, names);
    entity.etag = entity.etag.or_else(|| response.header("etag").map(Etag::from));
    Ok(entity)
}

/// Parses the entities of a page.
pub(super) fn entities(response: &ServiceResponse, names: KnownNames) -> Result<Vec<Entity>> {
    let parsed = json::parse_answered_entities(&response.body).map_err(|error| Error::invalid_response(&error))?;
    Ok(parsed.into_iter().map(|entity| Entity::from_response(entity, names)).collect())
}
