//! The services of a storage account.

use crate::signing::SignedServices;

/// One of the services, each of which has its own port, resources, signatures and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// Blob Storage.
    Blob,
    /// Queue Storage.
    Queue,
    /// Table Storage.
    Table,
}

impl Service {
    /// All services.
    pub const ALL: [Self; 3] = [Self::Blob, Self::Queue, Self::Table];

    /// The name as host names, logs and canonicalized resources have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Queue => "queue",
            Self::Table => "table",
        }
    }

    /// The service as an account SAS names it.
    pub const fn signed(self) -> SignedServices {
        match self {
            Self::Blob => SignedServices::BLOB,
            Self::Queue => SignedServices::QUEUE,
            Self::Table => SignedServices::TABLE,
        }
    }
}
