//! The services without HTTP, on engines in memory.

mod analytics;
mod blob_crashes;
mod blob_random;
mod blob_tiers;
mod blob_usage;
mod blobs;
mod blobs_of_many_servers;
mod customer_keys;
mod etags;
mod groups;
mod keys_document;
mod limits;
mod load;
mod messages;
mod page_random;
mod pages;
mod queries;
mod queue_consumers;
mod queue_random;
mod queues;
mod sketches;
mod support;
mod tables;
mod tables_of_many_servers;
mod tag_index;
mod transfer;
