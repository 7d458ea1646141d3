//! What a case is, and how a file of cases lists them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::expect::Outcome;
use crate::session::Session;

/// The operation a case is about, by the service's own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    QueryTables,
    QueryTable,
    CreateTable,
    DeleteTable,
    GetTableAcl,
    SetTableAcl,
    QueryEntities,
    QueryEntity,
    InsertEntity,
    UpdateEntity,
    MergeEntity,
    InsertOrReplaceEntity,
    InsertOrMergeEntity,
    DeleteEntity,
    EntityGroupTransaction,
    GetTableServiceProperties,
    SetTableServiceProperties,
    GetTableServiceStats,
    TablePreflightRequest,
    ListQueues,
    CreateQueue,
    DeleteQueue,
    GetQueueMetadata,
    SetQueueMetadata,
    GetQueueACL,
    SetQueueACL,
    PutMessage,
    GetMessages,
    PeekMessages,
    UpdateMessage,
    DeleteMessage,
    ClearMessages,
    GetQueueServiceProperties,
    SetQueueServiceProperties,
    GetQueueServiceStats,
    QueuePreflightRequest,
    ListContainers,
    CreateContainer,
    DeleteContainer,
    GetContainerProperties,
    GetContainerMetadata,
    SetContainerMetadata,
    GetContainerACL,
    SetContainerACL,
    AcquireContainerLease,
    BreakContainerLease,
    ListBlobs,
    FindBlobsByTags,
    PutBlob,
    PutBlobFromURL,
    GetBlob,
    GetBlobProperties,
    SetBlobProperties,
    GetBlobMetadata,
    SetBlobMetadata,
    DeleteBlob,
    PutBlock,
    PutBlockFromURL,
    PutBlockList,
    GetBlockList,
    AppendBlock,
    AppendBlockFromURL,
    PutPage,
    PutPageFromURL,
    ClearPage,
    GetPageRanges,
    IncrementalCopyBlob,
    SealBlob,
    AcquireBlobLease,
    RenewBlobLease,
    ChangeBlobLease,
    ReleaseBlobLease,
    BreakBlobLease,
    SnapshotBlob,
    CopyBlob,
    CopyBlobFromURL,
    AbortCopyBlob,
    SetBlobTier,
    GetBlobTags,
    SetBlobTags,
    BlobBatch,
    SetBlobServiceProperties,
    GetAccountInformation,
    /// About credentials rather than about one operation.
    Authentication,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

type Running<'s> = Pin<Box<dyn Future<Output = Outcome> + Send + 's>>;

/// One behaviour of the service, with the function that checks it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub operation: Operation,
    /// Unique within the suite, and a sentence.
    pub name: &'static str,
    pub run: for<'s> fn(&'s Session) -> Running<'s>,
}

/// Lists the cases of a file by operation, as `CASES`.
#[macro_export]
macro_rules! cases {
    ($($operation:ident { $($name:ident),* $(,)? })*) => {
        pub(crate) const CASES: &[$crate::Case] = &[$($(
            $crate::Case {
                operation: $crate::Operation::$operation,
                name: stringify!($name),
                run: |at| Box::pin($name(at)),
            },
        )*)*];
    };
}
