//! The rows of all operations, and the macro that reads them.

use tablerock_protocol::Service;
use tablerock_protocol::signing::{
    AccountPermissions, BlobPermissions, QueuePermissions, SignedResourceTypes, TablePermissions,
};

use super::headers::{
    APPEND, BLOB_CONDITIONS, BLOB_TYPE, CHECKSUM, CONTAINER_SCOPE, CONTENT, COPY, COPY_PROPERTIES, COPY_TAGS,
    CUSTOMER_KEY, ENCRYPTION_CONTEXT, EXPIRY, FILE_SOURCE, IMMUTABILITY, LEASE, LEASING, METADATA, PAGE_BLOB,
    PAGE_RANGES, PAGES, PUBLIC_ACCESS, RANGE, REHYDRATE, SCOPE, SEAL, SEQUENCE_ACTION, SEQUENCE_CONDITIONS, SHOW_ONLY,
    SNAPSHOTS, SOFT_DELETE, SOURCE, SOURCE_KEY, SOURCE_TOKEN, STRUCTURE, TAG_CONDITION, TAGS, TIER, TIER_CONDITION,
    USER_NAMES,
};
use super::{Effect, Flag, Needs, Row, ServiceSas};

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

        pub(super) static ROWS: &[Row] = &[$($(Row {
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
            parameters["prefix" "delimiter" "marker" "maxresults" "include" "startFrom" "endBefore"],
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
            headers[CUSTOMER_KEY SCOPE CONTENT LEASE TAG_CONDITION PAGE_BLOB SEQUENCE_ACTION], parameters["snapshot" "versionid"];
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
            headers[CUSTOMER_KEY SCOPE PAGES SEQUENCE_CONDITIONS LEASE TAG_CONDITION CHECKSUM], parameters["snapshot" "versionid"],
            refuses[STRUCTURE];
        PutPageFromURL: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[CUSTOMER_KEY SOURCE_KEY SCOPE PAGES SEQUENCE_CONDITIONS LEASE TAG_CONDITION SOURCE SOURCE_TOKEN],
            parameters["snapshot" "versionid"],
            refuses[FILE_SOURCE];
        ClearPage: Writes, sas([WRITE]), account(OBJECT [WRITE]),
            headers[CUSTOMER_KEY SCOPE PAGES SEQUENCE_CONDITIONS LEASE TAG_CONDITION], parameters["snapshot" "versionid"];
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
