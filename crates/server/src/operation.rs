//! Every operation that the server knows. Logs, metrics, permissions and the compatibility table use these names.

mod analytics;
mod permissions;

use tablerock_protocol::Service;

pub(crate) use analytics::kind_of_method;

macro_rules! operations {
    ($($service:ident: $($variant:ident)*;)*) => {
        /// An operation of one of the services, by the name that Storage Analytics gives it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation { $($($variant),*),* }

        impl Operation {
            pub const ALL: &[Operation] = &[$($(Operation::$variant),*),*];

            pub const fn name(self) -> &'static str {
                match self { $($(Operation::$variant => stringify!($variant)),*),* }
            }

            /// The service that has the operation.
            pub const fn service(self) -> Service {
                match self { $($(Operation::$variant)|* => Service::$service),* }
            }
        }
    };
}

operations! {
    Table:
        QueryTables
        QueryTable
        CreateTable
        DeleteTable
        GetTableAcl
        SetTableAcl
        QueryEntities
        QueryEntity
        InsertEntity
        UpdateEntity
        MergeEntity
        InsertOrReplaceEntity
        InsertOrMergeEntity
        DeleteEntity
        EntityGroupTransaction
        GetTableServiceProperties
        SetTableServiceProperties
        GetTableServiceStats
        TablePreflightRequest;
    Queue:
        ListQueues
        CreateQueue
        DeleteQueue
        GetQueueMetadata
        SetQueueMetadata
        GetQueueACL
        SetQueueACL
        PutMessage
        GetMessages
        PeekMessages
        UpdateMessage
        DeleteMessage
        ClearMessages
        GetQueueServiceProperties
        SetQueueServiceProperties
        GetQueueServiceStats
        QueuePreflightRequest;
    Blob:
        ListContainers
        CreateContainer
        DeleteContainer
        GetContainerProperties
        GetContainerMetadata
        SetContainerMetadata
        GetContainerACL
        SetContainerACL
        AcquireContainerLease
        RenewContainerLease
        ChangeContainerLease
        ReleaseContainerLease
        BreakContainerLease
        UndeleteContainer
        ListBlobs
        FindBlobsByTags
        PutBlob
        PutBlobFromURL
        GetBlob
        GetBlobProperties
        SetBlobProperties
        GetBlobMetadata
        SetBlobMetadata
        DeleteBlob
        UndeleteBlob
        PutBlock
        PutBlockFromURL
        PutBlockList
        GetBlockList
        AppendBlock
        AppendBlockFromURL
        SealBlob
        PutPage
        PutPageFromURL
        ClearPage
        GetPageRanges
        AcquireBlobLease
        RenewBlobLease
        ChangeBlobLease
        ReleaseBlobLease
        BreakBlobLease
        SnapshotBlob
        CopyBlob
        CopyBlobFromURL
        AbortCopyBlob
        IncrementalCopyBlob
        SetBlobTier
        GetBlobTags
        SetBlobTags
        SetBlobExpiry
        QueryBlobContents
        BlobBatch
        GetAccountInformation
        GetUserDelegationKey
        GetBlobServiceProperties
        SetBlobServiceProperties
        GetBlobServiceStats
        BlobPreflightRequest;
}

impl Operation {
    /// Whether it changes anything, which the secondary endpoint does not do.
    pub const fn is_write(self) -> bool {
        use Operation::*;
        !matches!(
            self,
            QueryTables
                | QueryTable
                | GetTableAcl
                | QueryEntities
                | QueryEntity
                | GetTableServiceProperties
                | GetTableServiceStats
                | TablePreflightRequest
                | ListQueues
                | GetQueueMetadata
                | GetQueueACL
                | PeekMessages
                | GetQueueServiceProperties
                | GetQueueServiceStats
                | QueuePreflightRequest
                | ListContainers
                | GetContainerProperties
                | GetContainerMetadata
                | GetContainerACL
                | ListBlobs
                | FindBlobsByTags
                | GetBlob
                | GetBlobProperties
                | GetBlobMetadata
                | GetBlockList
                | GetPageRanges
                | GetBlobTags
                | QueryBlobContents
                | GetAccountInformation
                | GetUserDelegationKey
                | GetBlobServiceProperties
                | GetBlobServiceStats
                | BlobPreflightRequest
        )
    }

    /// Whether a request without a body's length is refused. Tables want one for every write but deletions, the other
    /// services where the body is the point.
    pub const fn needs_length(self) -> bool {
        use Operation::*;
        match self.service() {
            Service::Table => self.is_write() && !matches!(self, DeleteEntity | DeleteTable),
            Service::Queue => matches!(self, PutMessage),
            Service::Blob => matches!(self, PutBlob | PutBlock | PutBlockList | AppendBlock | PutPage),
        }
    }

    /// Whether its bodies are XML although it belongs to tables: the service's front end answers it, errors included.
    pub const fn is_xml(self) -> bool {
        use Operation::*;
        matches!(
            self,
            GetTableAcl | SetTableAcl | GetTableServiceProperties | SetTableServiceProperties | GetTableServiceStats
        )
    }
}
