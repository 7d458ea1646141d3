//! Every operation of the three services, with all its facts in one row.
//!
//! Authorization, logs, metrics, Storage Analytics and the compatibility table read these rows and nothing else. A new
//! operation is a row in `rows.rs`, a variant of its service's request type and a function that runs it; see
//! CONTRIBUTING.md.

mod headers;
mod rows;
mod tags;

use http::Method;
use tablerock_protocol::analytics::RequestKind;
use tablerock_protocol::signing::{
    AccountPermissions, BlobPermissions, QueuePermissions, SignedResourceTypes, TablePermissions,
};
use tablerock_protocol::{METADATA_PREFIX, Service, ServiceVersion};

use self::headers::{COMMON, COMMON_PARAMETERS};
pub use self::rows::Operation;
use self::rows::ROWS;

/// The facts about one operation.
#[derive(Debug)]
pub(crate) struct Row {
    name: &'static str,
    service: Service,
    effect: Effect,
    /// A request without a `Content-Length` is rejected.
    needs_length: bool,
    /// The permissions that a SAS of the table, queue, container or blob needs.
    pub(crate) sas: ServiceSas,
    /// The level of resources that an account SAS has to cover, and the permissions that it needs.
    pub(crate) account_sas: (Option<SignedResourceTypes>, Needs<AccountPermissions>),
    flags: &'static [Flag],
    headers: &'static [&'static [&'static str]],
    parameters: &'static [&'static str],
    /// Headers and parameters that Azure documents for it and that this server does not act on.
    refused: &'static [&'static [&'static str]],
}

/// The effect of an operation on stored data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
    Deletes,
    /// Hides messages from other consumers: a write, which Storage Analytics logs as a read.
    Dequeues,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    /// Anonymous callers may run it where the container is public.
    Public,
    /// It reads or writes stored access policies, which bearer tokens could not with older versions.
    Policies,
    /// It may run on `$logs` and on the metrics tables, which otherwise are read-only.
    OnAnalytics,
    /// Its response is a page of a list, whose size is known only when it is complete.
    Page,
    /// A table operation with XML bodies, which the service's front end serves.
    Xml,
    /// A batch that may hold a single read, which the secondary endpoint accepts. Its parts are admitted one by one.
    OneRead,
    /// The permission to create is enough in newer versions only.
    CreatesOfBlocks,
    /// Its content comes from elsewhere, or there is none: a request with a body is rejected.
    NoBody,
}

/// The permissions that a SAS needs for an operation.
#[derive(Debug)]
pub(crate) enum Needs<P: 'static> {
    /// No SAS of this kind is enough.
    Never,
    /// Any valid SAS is enough: the parts of a batch are admitted one by one.
    Nothing,
    OneOf(&'static [P]),
    AllOf(&'static [P]),
}

/// The service SAS that an operation accepts.
#[derive(Debug)]
pub(crate) enum ServiceSas {
    Table(Needs<TablePermissions>),
    Queue(Needs<QueuePermissions>),
    Blob(Needs<BlobPermissions>),
}

impl Operation {
    pub(crate) fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name that Storage Analytics gives the operation.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The service that has the operation.
    pub fn service(self) -> Service {
        self.row().service
    }

    /// Returns the names of a service's operations, each at its [`index_in_service`](Self::index_in_service).
    pub fn names_of(service: Service) -> Vec<&'static str> {
        ROWS.iter().filter(|row| row.service == service).map(|row| row.name).collect()
    }

    /// The index of the operation among those of its service.
    pub fn index_in_service(self) -> usize {
        let first = match self.service() {
            Service::Table => Self::QueryTables,
            Service::Queue => Self::ListQueues,
            Service::Blob => Self::ListContainers,
        };
        self as usize - first as usize
    }

    /// Whether it changes anything. The secondary endpoint rejects such operations.
    pub fn is_write(self) -> bool {
        self.row().effect != Effect::Reads
    }

    /// Whether it may turn out to be a read: a batch with a query.
    pub(crate) fn may_only_read(self) -> bool {
        self.has(Flag::OneRead)
    }

    /// Whether a request without a body's length is rejected.
    pub(crate) fn needs_length(self) -> bool {
        self.row().needs_length
    }

    /// Whether a request with a body is rejected.
    pub(crate) fn has_no_body(self) -> bool {
        self.has(Flag::NoBody)
    }

    /// Whether it is a table operation with XML bodies. The front end of the service responds to it, errors included.
    pub(crate) fn is_xml(self) -> bool {
        self.has(Flag::Xml)
    }

    /// Whether it reads content of another blob.
    pub(crate) fn copies_content(self) -> bool {
        matches!(
            self,
            Self::CopyBlob
                | Self::CopyBlobFromURL
                | Self::PutBlobFromURL
                | Self::PutBlockFromURL
                | Self::AppendBlockFromURL
                | Self::PutPageFromURL
                | Self::IncrementalCopyBlob
        )
    }

    /// Whether its response is a page of a list.
    pub(crate) fn returns_page(self) -> bool {
        self.has(Flag::Page)
    }

    /// Whether an anonymous caller may run it where the container is public.
    pub(crate) fn is_public_read(self) -> bool {
        self.has(Flag::Public)
    }

    /// Whether the permission to create a blob is enough for a SAS of this version, where the row has it.
    pub(crate) fn takes_create(self, version: ServiceVersion) -> bool {
        !self.has(Flag::CreatesOfBlocks) || version >= ServiceVersion::CREATE_OF_BLOCKS
    }

    /// Whether it reads or writes stored access policies.
    pub(crate) fn is_policy_access(self) -> bool {
        self.has(Flag::Policies)
    }

    /// Whether it may run on what Storage Analytics wrote: logs and metrics are read and deleted, never changed.
    pub(crate) fn is_allowed_on_analytics(self) -> bool {
        !self.is_write() || self.has(Flag::OnAnalytics)
    }

    /// The kind under which Storage Analytics switches logging on and off.
    pub(crate) fn kind(self) -> RequestKind {
        match self.row().effect {
            Effect::Reads | Effect::Dequeues => RequestKind::Read,
            Effect::Writes => RequestKind::Write,
            Effect::Deletes => RequestKind::Delete,
        }
    }

    /// Whether the operation acts on a request header of the services' own, `x-ms-…`.
    pub fn knows_header(self, name: &str) -> bool {
        let is_known = |known: &&str| name == *known || *known == METADATA_PREFIX && name.starts_with(METADATA_PREFIX);
        COMMON.iter().any(is_known) || self.row().headers.iter().any(|group| group.iter().any(is_known))
    }

    /// Whether Azure documents a header or a parameter for the operation, and this server does not act on it.
    pub(crate) fn refuses(self, name: &str) -> bool {
        self.row().refused.iter().any(|group| group.contains(&name))
    }

    /// Whether the operation rejects anything at all.
    pub(crate) fn has_refusals(self) -> bool {
        !self.row().refused.is_empty()
    }

    /// Whether the operation acts on a query parameter.
    pub fn knows_parameter(self, name: &str) -> bool {
        COMMON_PARAMETERS.contains(&name) || self.row().parameters.contains(&name)
    }

    fn has(self, flag: Flag) -> bool {
        self.row().flags.contains(&flag)
    }
}

/// The kind of a request whose operation is not known.
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
    fn every_operation_has_its_own_row_and_is_counted_under_its_name() {
        for operation in Operation::ALL {
            assert_eq!(operation.name(), format!("{operation:?}"));
            assert_eq!(Operation::names_of(operation.service())[operation.index_in_service()], operation.name());
        }
        assert_eq!(ROWS.len(), Operation::ALL.len());
    }

    #[test]
    fn anonymous_callers_can_change_nothing() {
        for operation in Operation::ALL {
            assert!(!operation.is_public_read() || !operation.is_write(), "{operation:?}");
        }
    }

    #[test]
    fn policies_are_out_of_reach_for_every_sas() {
        for operation in Operation::ALL.iter().filter(|operation| operation.is_policy_access()) {
            let row = operation.row();
            assert!(matches!(row.account_sas.1, Needs::Never), "{operation:?}");
            let is_never = matches!(
                row.sas,
                ServiceSas::Table(Needs::Never) | ServiceSas::Queue(Needs::Never) | ServiceSas::Blob(Needs::Never)
            );
            assert!(is_never, "{operation:?}");
        }
    }

    #[test]
    fn logs_and_metrics_are_read_and_deleted_and_not_written() {
        use Operation::*;
        for operation in [GetBlob, ListBlobs, DeleteBlob, BlobBatch, QueryEntities, DeleteEntity] {
            assert!(operation.is_allowed_on_analytics(), "{operation:?}");
        }
        for operation in [PutBlob, DeleteContainer, AcquireBlobLease, InsertEntity, DeleteTable] {
            assert!(!operation.is_allowed_on_analytics(), "{operation:?}");
        }
    }

    #[test]
    fn no_operation_both_knows_and_refuses_a_name() {
        for operation in Operation::ALL {
            for name in operation.row().refused.concat() {
                assert!(!operation.knows_header(name) && !operation.knows_parameter(name), "{operation:?} {name}");
                assert!(operation.refuses(name));
            }
        }
    }

    #[test]
    fn headers_and_parameters_are_known_by_name() {
        assert!(Operation::PutBlob.knows_header("x-ms-meta-color"));
        assert!(Operation::PutBlob.knows_header("x-ms-version"));
        assert!(!Operation::GetBlob.knows_header("x-ms-meta-color"));
        assert!(Operation::QueryEntities.knows_parameter("$filter"));
        assert!(!Operation::QueryEntity.knows_parameter("$filter"));
    }
}
