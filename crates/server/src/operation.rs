//! Every operation of the three services, with all its facts in one row.
//!
//! Authorization, logs, metrics, Storage Analytics and the compatibility table read these rows and nothing else. A new
//! operation is a row here, a variant of its service's request type and a function that runs it; see CONTRIBUTING.md.

use http::Method;
use tablerock_protocol::analytics::RequestKind;
use tablerock_protocol::signing::{
    AccountPermissions, BlobPermissions, QueuePermissions, SignedResourceTypes, TablePermissions,
};
use tablerock_protocol::{METADATA_PREFIX, Service, ServiceVersion};

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

macro_rules! needs {
    ($set:ident never) => { Needs::Never };
    ($set:ident nothing) => { Needs::Nothing };
    ($set:ident [$($one:ident)*]) => { Needs::OneOf(&[$($set::$one),*]) };
    ($set:ident all [$($one:ident)*]) => { Needs::AllOf(&[$($set::$one),*]) };
}

macro_rules! service_sas {
    (Table $($needs:tt)*) => { ServiceSas::Table(needs!(TablePermissions $($needs)*)) };
    (Queue $($needs:tt)*) => { ServiceSas::Queue(needs!(QueuePermissions $($needs)*)) };
    (Blob $($needs:tt)*) => { ServiceSas::Blob(needs!(BlobPermissions $($needs)*)) };
}

macro_rules! account_sas {
    (never) => { (None, Needs::Never) };
    (nothing) => { (None, Needs::Nothing) };
    ($level:ident $($needs:tt)*) => { (Some(SignedResourceTypes::$level), needs!(AccountPermissions $($needs)*)) };
}

macro_rules! needs_length {
    () => {
        false
    };
    (body) => {
        true
    };
}

macro_rules! operations {
    ($($service:ident { $(
        $name:ident: $effect:ident $(with $body:ident)?, sas($($sas:tt)*), account($($account:tt)*)
            $(, flags[$($flag:ident)*])? $(, headers[$($headers:ident)*])? $(, parameters[$($parameter:literal)*])?
            $(, refuses[$($refused:ident)*])?;
    )* })*) => {
        /// An operation of one of the services, by the name that Storage Analytics gives it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation { $($(
            #[doc = concat!("`", stringify!($name), "` of the ", stringify!($service), " service.")]
            $name
        ),*),* }

        impl Operation {
            /// Every operation, in the order of the rows.
            pub const ALL: &[Operation] = &[$($(Operation::$name),*),*];
        }

        static ROWS: &[Row] = &[$($(Row {
            name: stringify!($name),
            service: Service::$service,
            effect: Effect::$effect,
            needs_length: needs_length!($($body)?),
            sas: service_sas!($service $($sas)*),
            account_sas: account_sas!($($account)*),
            flags: &[$($(Flag::$flag),*)?],
            headers: &[$($($headers),*)?],
            parameters: &[$($($parameter),*)?],
            refused: &[$($($refused),*)?],
        }),*),*];
    };
}

// Request headers of the services' own, in the groups that operations share. Those that every operation knows:
const COMMON: &[&str] = &["x-ms-date", "x-ms-version", "x-ms-client-request-id"];
const METADATA: &[&str] = &[METADATA_PREFIX];
const LEASE: &[&str] = &["x-ms-lease-id"];
const LEASING: &[&str] =
    &["x-ms-lease-action", "x-ms-lease-id", "x-ms-proposed-lease-id", "x-ms-lease-duration", "x-ms-lease-break-period"];
const TAG_CONDITION: &[&str] = &["x-ms-if-tags"];
/// The conditions of requests for tags, which are about the blob.
const BLOB_CONDITIONS: &[&str] =
    &["x-ms-blob-if-match", "x-ms-blob-if-modified-since", "x-ms-blob-if-none-match", "x-ms-blob-if-unmodified-since"];
const PUBLIC_ACCESS: &[&str] = &["x-ms-blob-public-access"];
const BLOB_TYPE: &[&str] = &["x-ms-blob-type"];
const TIER: &[&str] = &["x-ms-access-tier"];
const REHYDRATE: &[&str] = &["x-ms-rehydrate-priority"];
const TIER_CONDITION: &[&str] = &["x-ms-access-tier-if-modified-since", "x-ms-access-tier-if-unmodified-since"];
const TAGS: &[&str] = &["x-ms-tags"];
const RANGE: &[&str] = &["x-ms-range", "x-ms-range-get-content-md5", "x-ms-range-get-content-crc64"];
const CHECKSUM: &[&str] = &["x-ms-content-crc64"];
const PAGES: &[&str] = &["x-ms-page-write", "x-ms-range"];
const SEQUENCE_CONDITIONS: &[&str] =
    &["x-ms-if-sequence-number-eq", "x-ms-if-sequence-number-le", "x-ms-if-sequence-number-lt"];
const PAGE_BLOB: &[&str] = &["x-ms-blob-content-length", "x-ms-blob-sequence-number"];
const SEQUENCE_ACTION: &[&str] = &["x-ms-sequence-number-action"];
const PAGE_RANGES: &[&str] = &["x-ms-range", "x-ms-previous-snapshot-url"];
const APPEND: &[&str] = &["x-ms-blob-condition-appendpos", "x-ms-blob-condition-maxsize"];
const SNAPSHOTS: &[&str] = &["x-ms-delete-snapshots"];
const CONTENT: &[&str] = &[
    "x-ms-blob-cache-control",
    "x-ms-blob-content-disposition",
    "x-ms-blob-content-encoding",
    "x-ms-blob-content-language",
    "x-ms-blob-content-md5",
    "x-ms-blob-content-type",
];
const SOURCE: &[&str] = &[
    "x-ms-copy-source",
    "x-ms-source-content-crc64",
    "x-ms-source-content-md5",
    "x-ms-source-if-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-none-match",
    "x-ms-source-if-unmodified-since",
    "x-ms-source-range",
];
const CUSTOMER_KEY: &[&str] = &["x-ms-encryption-key", "x-ms-encryption-key-sha256", "x-ms-encryption-algorithm"];
const SOURCE_KEY: &[&str] =
    &["x-ms-source-encryption-key", "x-ms-source-encryption-key-sha256", "x-ms-source-encryption-algorithm"];
const SCOPE: &[&str] = &["x-ms-encryption-scope"];
const CONTAINER_SCOPE: &[&str] = &["x-ms-default-encryption-scope", "x-ms-deny-encryption-scope-override"];
const COPY: &[&str] = &["x-ms-requires-sync", "x-ms-source-if-tags", "x-ms-source-lease-id"];

const SOURCE_TOKEN: &[&str] = &["x-ms-copy-source-authorization"];
const COPY_TAGS: &[&str] = &["x-ms-copy-source-tag-option"];
const COPY_PROPERTIES: &[&str] = &["x-ms-copy-source-blob-properties"];
const SEAL: &[&str] = &["x-ms-seal-blob"];

// Headers and parameters that Azure documents and that are refused, for lack of the feature.
const STRUCTURE: &[&str] = &["x-ms-structured-body", "x-ms-structured-content-length"];
const IMMUTABILITY: &[&str] =
    &["x-ms-immutability-policy-until-date", "x-ms-immutability-policy-mode", "x-ms-legal-hold"];
// Accounts with a hierarchical namespace have these:
const EXPIRY: &[&str] = &["x-ms-expiry-option", "x-ms-expiry-time"];
const ENCRYPTION_CONTEXT: &[&str] = &["x-ms-encryption-context"];
const USER_NAMES: &[&str] = &["x-ms-upn"];
// The source would be a file of the File service.
const FILE_SOURCE: &[&str] = &["x-ms-file-request-intent"];
const SOFT_DELETE: &[&str] = &["deletetype"];
const SHOW_ONLY: &[&str] = &["showonly"];

/// Query parameters that every operation knows. Those of a SAS are the business of authentication.
const COMMON_PARAMETERS: &[&str] = &["api-version", "comp", "restype", "timeout"];

operations! {
    Table {
        QueryTables: Reads, sas(never), account(CONTAINER [LIST]), flags[Page],
            parameters["$filter" "$top" "$format" "NextTableName"];
        QueryTable: Reads, sas(never), account(CONTAINER [LIST]), parameters["$format"];
        CreateTable: Writes with body, sas(never), account(CONTAINER [CREATE WRITE]), parameters["$format"];
        DeleteTable: Deletes, sas(never), account(CONTAINER [DELETE]), parameters["$format"];
        GetTableAcl: Reads, sas(never), account(never), flags[Policies Xml];
        SetTableAcl: Writes with body, sas(never), account(never), flags[Policies Xml];
        QueryEntities: Reads, sas([READ]), account(OBJECT [READ]), flags[Page],
            parameters["$filter" "$top" "$select" "$format" "NextPartitionKey" "NextRowKey"];
        QueryEntity: Reads, sas([READ]), account(OBJECT [READ]), parameters["$select" "$format"];
        InsertEntity: Writes with body, sas([ADD]), account(OBJECT [ADD]), parameters["$format"];
        UpdateEntity: Writes with body, sas([UPDATE]), account(OBJECT [UPDATE]), parameters["$format"];
        MergeEntity: Writes with body, sas([UPDATE]), account(OBJECT [UPDATE]), parameters["$format"];
        InsertOrReplaceEntity: Writes with body, sas(all [ADD UPDATE]), account(OBJECT all [ADD UPDATE]),
            parameters["$format"];
        InsertOrMergeEntity: Writes with body, sas(all [ADD UPDATE]), account(OBJECT all [ADD UPDATE]),
            parameters["$format"];
        DeleteEntity: Deletes, sas([DELETE]), account(OBJECT [DELETE]), flags[OnAnalytics], parameters["$format"];
        EntityGroupTransaction: Writes with body, sas(nothing), account(OBJECT nothing), flags[OneRead],
            parameters["$format"];
        GetTableServiceProperties: Reads, sas(never), account(SERVICE [READ]), flags[Xml];
        SetTableServiceProperties: Writes with body, sas(never), account(SERVICE [WRITE]), flags[Xml];
        GetTableServiceStats: Reads, sas(never), account(SERVICE [READ]), flags[Xml];
        TablePreflightRequest: Reads, sas(never), account(never);
    }
    Queue {
        ListQueues: Reads, sas(never), account(SERVICE [LIST]), flags[Page],
            parameters["prefix" "marker" "maxresults" "include"];
        CreateQueue: Writes, sas(never), account(CONTAINER [CREATE WRITE]), headers[METADATA];
        DeleteQueue: Deletes, sas(never), account(CONTAINER [DELETE]);
        GetQueueMetadata: Reads, sas([READ]), account(CONTAINER [READ]);
        SetQueueMetadata: Writes, sas(never), account(CONTAINER [WRITE]), headers[METADATA];
        GetQueueACL: Reads, sas(never), account(never), flags[Policies];
        SetQueueACL: Writes, sas(never), account(never), flags[Policies];
        PutMessage: Writes with body, sas([ADD]), account(OBJECT [ADD]), parameters["visibilitytimeout" "messagettl"];
        GetMessages: Dequeues, sas([PROCESS]), account(OBJECT [PROCESS]),
            parameters["numofmessages" "visibilitytimeout" "peekonly"];
        PeekMessages: Reads, sas([READ]), account(OBJECT [READ]), parameters["numofmessages" "peekonly"];
        UpdateMessage: Writes, sas([UPDATE]), account(OBJECT [UPDATE]), parameters["popreceipt" "visibilitytimeout"];
        DeleteMessage: Deletes, sas([PROCESS]), account(OBJECT [PROCESS]), parameters["popreceipt"];
        ClearMessages: Deletes, sas(never), account(OBJECT [DELETE]);
        GetQueueServiceProperties: Reads, sas(never), account(SERVICE [READ]);
        SetQueueServiceProperties: Writes, sas(never), account(SERVICE [WRITE]);
        GetQueueServiceStats: Reads, sas(never), account(SERVICE [READ]);
        QueuePreflightRequest: Reads, sas(never), account(never);
    }
    Blob {
        ListContainers: Reads, sas(never), account(SERVICE [LIST]), flags[Page],
            parameters["prefix" "marker" "maxresults" "include"];
        CreateContainer: Writes, sas(never), account(CONTAINER [CREATE WRITE]), headers[METADATA PUBLIC_ACCESS CONTAINER_SCOPE];
        DeleteContainer: Deletes, sas(never), account(CONTAINER [DELETE]), headers[LEASE];
        GetContainerProperties: Reads, sas(never), account(CONTAINER [READ]), flags[Public], headers[LEASE];
        GetContainerMetadata: Reads, sas(never), account(CONTAINER [READ]), flags[Public], headers[LEASE];
        SetContainerMetadata: Writes, sas(never), account(CONTAINER [WRITE]), headers[METADATA LEASE];
        GetContainerACL: Reads, sas(never), account(never), flags[Policies], headers[LEASE];
        SetContainerACL: Writes, sas(never), account(never), flags[Policies], headers[LEASE PUBLIC_ACCESS];
        AcquireContainerLease: Writes, sas(never), account(CONTAINER [WRITE]), headers[LEASING];
        RenewContainerLease: Writes, sas(never), account(CONTAINER [WRITE]), headers[LEASING];
        ChangeContainerLease: Writes, sas(never), account(CONTAINER [WRITE]), headers[LEASING];
        ReleaseContainerLease: Writes, sas(never), account(CONTAINER [WRITE]), headers[LEASING];
        BreakContainerLease: Writes, sas(never), account(CONTAINER [WRITE DELETE]), headers[LEASING];
        UndeleteContainer: Writes, sas(never), account(CONTAINER [WRITE]);
        ListBlobs: Reads, sas([LIST]), account(CONTAINER [LIST]), flags[Public Page],
            parameters["prefix" "delimiter" "marker" "maxresults" "include" "startFrom"],
            refuses[SHOW_ONLY USER_NAMES];
        FindBlobsByTags: Reads, sas([FILTER_BY_TAGS]), account(OBJECT [FILTER_BY_TAGS]), flags[Page],
            parameters["where" "marker" "maxresults"];
        PutBlob: Writes with body, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]),
            headers[CUSTOMER_KEY SCOPE BLOB_TYPE METADATA CONTENT TAGS TIER LEASE TAG_CONDITION CHECKSUM PAGE_BLOB],
            parameters["snapshot" "versionid"],
            refuses[STRUCTURE IMMUTABILITY EXPIRY ENCRYPTION_CONTEXT];
        PutBlobFromURL: Writes, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]),
            headers[CUSTOMER_KEY SOURCE_KEY SCOPE BLOB_TYPE METADATA CONTENT TAGS TIER LEASE TAG_CONDITION SOURCE SOURCE_TOKEN COPY COPY_TAGS COPY_PROPERTIES],
            parameters["snapshot" "versionid"],
            refuses[EXPIRY FILE_SOURCE];
        GetBlob: Reads, sas([READ]), account(OBJECT [READ]), flags[Public],
            headers[CUSTOMER_KEY LEASE TAG_CONDITION RANGE], parameters["snapshot" "versionid"],
            refuses[STRUCTURE USER_NAMES];
        GetBlobProperties: Reads, sas([READ]), account(OBJECT [READ]), flags[Public],
            headers[CUSTOMER_KEY LEASE TAG_CONDITION], parameters["snapshot" "versionid"],
            refuses[USER_NAMES];
        SetBlobProperties: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[CONTENT LEASE TAG_CONDITION PAGE_BLOB SEQUENCE_ACTION], parameters["snapshot" "versionid"];
        GetBlobMetadata: Reads, sas([READ]), account(OBJECT [READ]), flags[Public],
            headers[CUSTOMER_KEY LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
        SetBlobMetadata: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[CUSTOMER_KEY SCOPE METADATA LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
        DeleteBlob: Deletes, sas([DELETE DELETE_VERSION PERMANENT_DELETE]), account(OBJECT [DELETE DELETE_VERSION PERMANENT_DELETE]), flags[OnAnalytics],
            headers[SNAPSHOTS LEASE TAG_CONDITION TIER_CONDITION], parameters["snapshot" "versionid"],
            refuses[SOFT_DELETE];
        UndeleteBlob: Writes, sas([WRITE]), account(OBJECT [WRITE]);
        PutBlock: Writes with body, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]), flags[CreatesOfBlocks],
            headers[CUSTOMER_KEY SCOPE LEASE CHECKSUM], parameters["blockid" "snapshot" "versionid"],
            refuses[STRUCTURE];
        PutBlockFromURL: Writes, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]), flags[CreatesOfBlocks],
            headers[CUSTOMER_KEY SOURCE_KEY SCOPE LEASE SOURCE SOURCE_TOKEN], parameters["blockid" "snapshot" "versionid"],
            refuses[FILE_SOURCE];
        PutBlockList: Writes with body, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]), flags[CreatesOfBlocks],
            headers[CUSTOMER_KEY SCOPE METADATA CONTENT TAGS TIER LEASE TAG_CONDITION CHECKSUM], parameters["snapshot" "versionid"],
            refuses[IMMUTABILITY];
        GetBlockList: Reads, sas([READ]), account(OBJECT [READ]), flags[Public Page],
            headers[LEASE TAG_CONDITION], parameters["blocklisttype" "snapshot" "versionid"];
        AppendBlock: Writes with body, sas([ADD WRITE]), account(OBJECT [ADD WRITE]),
            headers[CUSTOMER_KEY SCOPE APPEND LEASE TAG_CONDITION CHECKSUM], parameters["snapshot" "versionid"],
            refuses[STRUCTURE];
        AppendBlockFromURL: Writes, sas([ADD WRITE]), account(OBJECT [ADD WRITE]),
            headers[CUSTOMER_KEY SOURCE_KEY SCOPE APPEND LEASE TAG_CONDITION SOURCE SOURCE_TOKEN], parameters["snapshot" "versionid"],
            refuses[FILE_SOURCE];
        SealBlob: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[APPEND LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
        PutPage: Writes with body, sas([WRITE]), account(OBJECT [WRITE]),
            headers[PAGES SEQUENCE_CONDITIONS LEASE TAG_CONDITION CHECKSUM], parameters["snapshot" "versionid"],
            refuses[STRUCTURE CUSTOMER_KEY SCOPE];
        PutPageFromURL: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[PAGES SEQUENCE_CONDITIONS LEASE TAG_CONDITION SOURCE SOURCE_TOKEN SOURCE_KEY],
            parameters["snapshot" "versionid"],
            refuses[FILE_SOURCE CUSTOMER_KEY SCOPE];
        ClearPage: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[PAGES SEQUENCE_CONDITIONS LEASE TAG_CONDITION], parameters["snapshot" "versionid"],
            refuses[CUSTOMER_KEY SCOPE];
        GetPageRanges: Reads, sas([READ]), account(OBJECT [READ]), flags[Public Page],
            headers[PAGE_RANGES LEASE TAG_CONDITION],
            parameters["snapshot" "versionid" "prevsnapshot" "marker" "maxresults"];
        AcquireBlobLease: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[LEASING TAG_CONDITION], parameters["snapshot" "versionid"];
        RenewBlobLease: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[LEASING TAG_CONDITION], parameters["snapshot" "versionid"];
        ChangeBlobLease: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[LEASING TAG_CONDITION], parameters["snapshot" "versionid"];
        ReleaseBlobLease: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[LEASING TAG_CONDITION], parameters["snapshot" "versionid"];
        BreakBlobLease: Writes, sas([WRITE DELETE]), account(OBJECT [WRITE DELETE]),
            headers[LEASING TAG_CONDITION], parameters["snapshot" "versionid"];
        SnapshotBlob: Writes, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]),
            headers[CUSTOMER_KEY SCOPE METADATA LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
        CopyBlob: Writes, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]),
            headers[METADATA TAGS TIER LEASE TAG_CONDITION SOURCE COPY SEAL REHYDRATE],
            parameters["snapshot" "versionid"],
            refuses[IMMUTABILITY];
        CopyBlobFromURL: Writes, sas([CREATE WRITE]), account(OBJECT [CREATE WRITE]),
            headers[SCOPE METADATA TAGS TIER LEASE TAG_CONDITION SOURCE SOURCE_TOKEN COPY COPY_TAGS], parameters["snapshot" "versionid"],
            refuses[IMMUTABILITY FILE_SOURCE];
        AbortCopyBlob: Writes, sas([WRITE]), account(OBJECT [WRITE]);
        IncrementalCopyBlob: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[SOURCE COPY LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
        SetBlobTier: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[TIER REHYDRATE LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
        GetBlobTags: Reads, sas([TAGS]), account(OBJECT [TAGS]),
            headers[LEASE TAG_CONDITION BLOB_CONDITIONS], parameters["snapshot" "versionid"];
        SetBlobTags: Writes, sas([TAGS]), account(OBJECT [TAGS]),
            headers[LEASE TAG_CONDITION BLOB_CONDITIONS CHECKSUM], parameters["snapshot" "versionid"];
        SetBlobExpiry: Writes, sas([WRITE]), account(OBJECT [WRITE]);
        QueryBlobContents: Reads, sas([READ]), account(OBJECT [READ]);
        BlobBatch: Writes, sas(nothing), account(nothing), flags[OnAnalytics];
        GetAccountInformation: Reads, sas(nothing), account(nothing);
        GetUserDelegationKey: Reads, sas(never), account(never);
        GetBlobServiceProperties: Reads, sas(never), account(SERVICE [READ]);
        SetBlobServiceProperties: Writes, sas(never), account(SERVICE [WRITE]);
        GetBlobServiceStats: Reads, sas(never), account(SERVICE [READ]);
        BlobPreflightRequest: Reads, sas(never), account(never);
    }
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
