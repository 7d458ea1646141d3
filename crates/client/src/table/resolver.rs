//! Conversion of the entities of a result to Rust values.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::{Entity, EntityError, Error, FromEntity, Result};

/// Converts each entity of a result to a value. Closures are resolvers; see [`Query::resolve`](super::Query::resolve).
#[doc(alias = "EntityResolver")]
pub trait Resolver {
    /// The type of the values.
    type Output;

    /// Converts one entity.
    fn resolve(&self, entity: Entity) -> Result<Self::Output, EntityError>;

    /// Converts one entity, or the error of its decryption.
    #[doc(hidden)]
    fn resolve_read(&self, entity: Result<Entity>) -> Result<Self::Output> {
        resolve(self, entity?)
    }
}

/// Converts an entity. An error has its keys.
pub(super) fn resolve<R: Resolver + ?Sized>(resolver: &R, entity: Entity) -> Result<R::Output> {
    let (partition_key, row_key) = (entity.partition_key.clone(), entity.row_key.clone());
    resolver.resolve(entity).map_err(|error| Error::Entity(error.with_keys(&partition_key, &row_key)))
}

/// The resolver that converts every entity to one type.
#[derive(Debug)]
pub struct Typed<T>(PhantomData<fn() -> T>);

impl<T> Typed<T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<T> Clone for Typed<T> {
    fn clone(&self) -> Self {
        Self::NEW
    }
}

impl<T: FromEntity> Resolver for Typed<T> {
    type Output = T;

    fn resolve(&self, entity: Entity) -> Result<T, EntityError> {
        T::from_entity(entity)
    }
}

/// The resolver that returns a result for each entity; see [`Query::results`](super::Query::results).
#[derive(Debug, Clone)]
pub struct ItemResults<R>(pub(super) Arc<R>);

impl<R: Resolver> Resolver for ItemResults<R> {
    type Output = Result<R::Output>;

    fn resolve(&self, entity: Entity) -> Result<Self::Output, EntityError> {
        Ok(resolve(self.0.as_ref(), entity))
    }

    fn resolve_read(&self, entity: Result<Entity>) -> Result<Self::Output> {
        Ok(self.0.resolve_read(entity))
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
