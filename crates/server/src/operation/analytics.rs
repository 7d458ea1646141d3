//! How Storage Analytics counts operations, and which of them it lets clients run on what it wrote.

use http::Method;
use tablerock_protocol::analytics::RequestKind;
use tablerock_protocol::{BlobResource, ContainerName, ErrorCode, Service, ServiceError, TableName};

use super::Operation;

impl Operation {
    /// The names of a service's operations, each at its [`place`](Self::place).
    pub fn names_of(service: Service) -> Vec<&'static str> {
        Self::ALL.iter().filter(|operation| operation.service() == service).map(|operation| operation.name()).collect()
    }

    /// The place of the operation among those of its service.
    pub const fn place(self) -> usize {
        let first = match self.service() {
            Service::Table => Self::QueryTables,
            Service::Queue => Self::ListQueues,
            Service::Blob => Self::ListContainers,
        };
        self as usize - first as usize
    }

    /// What the operation does, as the switches of logging have it.
    pub const fn kind(self) -> RequestKind {
        use Operation::*;
        match self {
            DeleteTable | DeleteEntity | DeleteQueue | DeleteMessage | ClearMessages | DeleteContainer | DeleteBlob => {
                RequestKind::Delete
            }
            // It hides messages, yet whoever asks reads them.
            GetMessages => RequestKind::Read,
            _ if self.is_write() => RequestKind::Write,
            _ => RequestKind::Read,
        }
    }

    /// Whether the operation may run on this: logs can be read and deleted, and nothing else.
    pub(crate) fn check_on_blob(self, resource: &BlobResource) -> Result<(), ServiceError> {
        let is_of_logs = resource.container().is_some_and(|container| container.as_str() == ContainerName::LOGS);
        let is_allowed = !self.is_write() || matches!(self, Self::DeleteBlob | Self::BlobBatch);
        if is_of_logs && !is_allowed { Err(ErrorCode::AuthorizationFailure.into()) } else { Ok(()) }
    }

    /// The same for the tables of metrics.
    pub(crate) fn check_on_table(self, table: &str) -> Result<(), ServiceError> {
        let is_allowed = !self.is_write() || self == Self::DeleteEntity;
        if TableName::is_of_analytics(table) && !is_allowed {
            return Err(ErrorCode::AuthorizationFailure.into());
        }
        Ok(())
    }
}

/// What a request was about whose operation nobody knows.
pub(crate) fn kind_of_method(method: &Method) -> RequestKind {
    match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => RequestKind::Read,
        Method::DELETE => RequestKind::Delete,
        _ => RequestKind::Write,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_counted_under_its_name() {
        for operation in Operation::ALL {
            assert_eq!(Operation::names_of(operation.service())[operation.place()], operation.name());
        }
    }

    #[test]
    fn logs_and_metrics_are_read_and_deleted_and_not_written() {
        let logs = BlobResource::parse("/$logs/table/x.log", false).unwrap();
        for (operation, is_allowed) in [
            (Operation::GetBlob, true),
            (Operation::ListBlobs, true),
            (Operation::DeleteBlob, true),
            (Operation::PutBlob, false),
            (Operation::DeleteContainer, false),
            (Operation::AcquireBlobLease, false),
        ] {
            assert_eq!(operation.check_on_blob(&logs).is_ok(), is_allowed, "{operation:?}");
        }
        let other = BlobResource::parse("/logs/x", false).unwrap();
        assert!(Operation::PutBlob.check_on_blob(&other).is_ok());
        let metrics = "$MetricsHourPrimaryTransactionsTable";
        assert!(Operation::QueryEntities.check_on_table(metrics).is_ok());
        assert!(Operation::DeleteEntity.check_on_table(metrics).is_ok());
        assert!(Operation::InsertEntity.check_on_table(metrics).is_err());
        assert!(Operation::InsertEntity.check_on_table("People").is_ok());
    }
}
