//! Entities out of answers.

use tablerock_protocol::json;

use crate::pipeline::Answer;
use crate::{Entity, Error, Etag, Result};

/// The ETag that a write has given its entity.
pub(super) fn etag(answer: &Answer) -> Result<Etag> {
    let etag = answer.header("etag").map(Etag::from);
    answer.reading(etag.ok_or_else(|| Error::Answer("it has no ETag".to_owned())))
}

/// The one entity of an answer, whose ETag may stand in the header only.
pub(super) fn entity(answer: &Answer) -> Result<Entity> {
    let read = json::parse_answered_entity(&answer.body).map_err(|error| Error::unreadable(&error))?;
    let mut entity = Entity::from_answer(read);
    entity.etag = entity.etag.or_else(|| answer.header("etag").map(Etag::from));
    Ok(entity)
}

/// The entities of a page.
pub(super) fn entities(answer: &Answer) -> Result<Vec<Entity>> {
    let read = json::parse_answered_entities(&answer.body).map_err(|error| Error::unreadable(&error))?;
    Ok(read.into_iter().map(Entity::from_answer).collect())
}
