//! Table work: workers that write their own entities and tables, in tables and partitions that they share.

mod entity;
mod generator;
mod model;
mod observed;
mod operation;

pub use entity::{Address, Content, Etag, Timestamp, Version};
pub use generator::{SHARED_TABLES, TableGenerator, TableOptions};
pub use model::{TableModel, entity_difference};
pub use observed::{ObservedTables, parse_entity, parse_page, parse_point_read};
pub use operation::{EntityChange, EntityOperation, IfMatch, TableWrite};

pub type TableWorkers = crate::workers::Workers<TableGenerator>;
pub type TableWorker = crate::workers::Worker<TableGenerator>;
