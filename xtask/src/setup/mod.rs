//! What the suites need installed: languages, packages of the registries, a PostgreSQL.

pub(crate) mod debian;
pub(crate) mod environments;
pub(crate) mod postgres;
pub(crate) mod preparation;
pub(crate) mod tools;
