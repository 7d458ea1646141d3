//! Who turns the entities of a result into Rust values.

use std::marker::PhantomData;

use crate::{Entity, EntityError, Error, FromEntity, Result};

/// Turns each entity of a result into a value. Closures are resolvers, and so is every type that can be read from an
/// entity; see [`Query::resolve`](super::Query::resolve).
pub trait Resolver {
    /// What comes out.
    type Output;

    /// Turns one entity into a value.
    fn resolve(&self, entity: Entity) -> Result<Self::Output, EntityError>;
}

/// Resolves an entity and, if it does not fit, tells which it was.
pub(super) fn resolve<R: Resolver>(resolver: &R, entity: Entity) -> Result<R::Output> {
    let (partition_key, row_key) = (entity.partition_key.clone(), entity.row_key.clone());
    resolver.resolve(entity).map_err(|error| Error::Entity(error.of_entity(&partition_key, &row_key)))
}

/// Reads every entity as one type.
#[derive(Debug)]
pub struct As<T>(PhantomData<fn() -> T>);

impl<T> As<T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<T> Clone for As<T> {
    fn clone(&self) -> Self {
        Self::NEW
    }
}

impl<T: FromEntity> Resolver for As<T> {
    type Output = T;

    fn resolve(&self, entity: Entity) -> Result<T, EntityError> {
        T::from_entity(entity)
    }
}

impl<F, T> Resolver for F
where
    F: Fn(Entity) -> Result<T, EntityError>,
{
    type Output = T;

    fn resolve(&self, entity: Entity) -> Result<T, EntityError> {
        self(entity)
    }
}
