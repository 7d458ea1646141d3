//! Cases of the Queue service.

pub(super) mod acl;
pub(super) mod authentication;
pub(super) mod change_message;
pub(super) mod get_messages;
pub(super) mod lifecycle;
pub(super) mod metadata;
pub(super) mod put_message;
pub(super) mod service;
