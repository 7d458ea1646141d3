//! What each kind of SAS must allow for an operation.

use tablerock_protocol::signing::{
    AccountPermissions, BlobPermissions, QueuePermissions, SignedResourceTypes, TablePermissions,
};

use super::Operation;

impl Operation {
    /// What a table's SAS must allow; `None` if no such SAS is enough. The operations of a group are looked at
    /// one by one, so the group itself needs nothing.
    pub fn table_permissions(self) -> Option<TablePermissions> {
        use Operation::*;
        Some(match self {
            QueryEntities | QueryEntity => TablePermissions::READ,
            InsertEntity => TablePermissions::ADD,
            UpdateEntity | MergeEntity => TablePermissions::UPDATE,
            InsertOrReplaceEntity | InsertOrMergeEntity => TablePermissions::ADD | TablePermissions::UPDATE,
            DeleteEntity => TablePermissions::DELETE,
            EntityGroupTransaction => TablePermissions::default(),
            _ => return None,
        })
    }

    /// What a queue's SAS must allow; `None` if no such SAS is enough.
    pub const fn queue_permissions(self) -> Option<QueuePermissions> {
        use Operation::*;
        Some(match self {
            GetQueueMetadata | PeekMessages => QueuePermissions::READ,
            PutMessage => QueuePermissions::ADD,
            UpdateMessage => QueuePermissions::UPDATE,
            GetMessages | DeleteMessage => QueuePermissions::PROCESS,
            _ => return None,
        })
    }

    /// What the SAS of a container or a blob must allow, one of these; `None` if no such SAS is enough. Whoever has
    /// only `c` must not overwrite, which the service has to see to. The requests of a batch have their own SAS.
    pub fn blob_permissions(self) -> Option<Vec<BlobPermissions>> {
        use Operation::*;
        type P = BlobPermissions;
        Some(match self {
            GetBlob | GetBlobProperties | GetBlobMetadata | GetBlockList | GetPageRanges | QueryBlobContents => {
                vec![P::READ]
            }
            PutBlob | PutBlobFromURL | CopyBlob | CopyBlobFromURL | SnapshotBlob => vec![P::CREATE, P::WRITE],
            PutBlock | PutBlockFromURL | PutBlockList => vec![P::WRITE],
            AppendBlock | AppendBlockFromURL => vec![P::ADD, P::WRITE],
            SetBlobProperties | SetBlobMetadata | SetBlobTier | SetBlobExpiry | SealBlob | PutPage | PutPageFromURL
            | ClearPage | AbortCopyBlob | IncrementalCopyBlob | UndeleteBlob | AcquireBlobLease | RenewBlobLease
            | ChangeBlobLease | ReleaseBlobLease => vec![P::WRITE],
            BreakBlobLease => vec![P::WRITE, P::DELETE],
            DeleteBlob => vec![P::DELETE, P::DELETE_VERSION, P::PERMANENT_DELETE],
            GetBlobTags | SetBlobTags => vec![P::TAGS],
            FindBlobsByTags => vec![P::FILTER_BY_TAGS],
            ListBlobs => vec![P::LIST],
            BlobBatch | GetAccountInformation => vec![P::default()],
            _ => return None,
        })
    }

    /// What an account SAS must cover: a level of resources, and one of several permissions; `None` if no such
    /// SAS is enough.
    pub fn account_permissions(self) -> Option<(SignedResourceTypes, Vec<AccountPermissions>)> {
        use Operation::*;
        type P = AccountPermissions;
        const SERVICE: SignedResourceTypes = SignedResourceTypes::SERVICE;
        const CONTAINER: SignedResourceTypes = SignedResourceTypes::CONTAINER;
        const OBJECT: SignedResourceTypes = SignedResourceTypes::OBJECT;
        Some(match self {
            GetTableServiceProperties
            | GetTableServiceStats
            | GetQueueServiceProperties
            | GetQueueServiceStats
            | GetBlobServiceProperties
            | GetBlobServiceStats => (SERVICE, vec![P::READ]),
            SetTableServiceProperties | SetQueueServiceProperties | SetBlobServiceProperties => {
                (SERVICE, vec![P::WRITE])
            }
            ListQueues | ListContainers => (SERVICE, vec![P::LIST]),
            GetAccountInformation | BlobBatch => (SignedResourceTypes::default(), vec![P::default()]),

            QueryTables | QueryTable | ListBlobs => (CONTAINER, vec![P::LIST]),
            CreateTable | CreateQueue | CreateContainer => (CONTAINER, vec![P::CREATE, P::WRITE]),
            DeleteTable | DeleteQueue | DeleteContainer => (CONTAINER, vec![P::DELETE]),
            GetQueueMetadata | GetContainerProperties | GetContainerMetadata => (CONTAINER, vec![P::READ]),
            SetQueueMetadata
            | SetContainerMetadata
            | UndeleteContainer
            | AcquireContainerLease
            | RenewContainerLease
            | ChangeContainerLease
            | ReleaseContainerLease => (CONTAINER, vec![P::WRITE]),
            BreakContainerLease => (CONTAINER, vec![P::WRITE, P::DELETE]),

            QueryEntities | QueryEntity | PeekMessages => (OBJECT, vec![P::READ]),
            InsertEntity | PutMessage => (OBJECT, vec![P::ADD]),
            UpdateEntity | MergeEntity | UpdateMessage => (OBJECT, vec![P::UPDATE]),
            InsertOrReplaceEntity | InsertOrMergeEntity => (OBJECT, vec![P::ADD | P::UPDATE]),
            DeleteEntity | ClearMessages => (OBJECT, vec![P::DELETE]),
            EntityGroupTransaction => (OBJECT, vec![P::default()]),
            GetMessages | DeleteMessage => (OBJECT, vec![P::PROCESS]),

            GetBlob | GetBlobProperties | GetBlobMetadata | GetBlockList | GetPageRanges | QueryBlobContents => {
                (OBJECT, vec![P::READ])
            }
            PutBlob | PutBlobFromURL | CopyBlob | CopyBlobFromURL | SnapshotBlob => (OBJECT, vec![P::CREATE, P::WRITE]),
            PutBlock | PutBlockFromURL | PutBlockList => (OBJECT, vec![P::WRITE]),
            AppendBlock | AppendBlockFromURL => (OBJECT, vec![P::ADD, P::WRITE]),
            SetBlobProperties | SetBlobMetadata | SetBlobTier | SetBlobExpiry | SealBlob | PutPage | PutPageFromURL
            | ClearPage | AbortCopyBlob | IncrementalCopyBlob | UndeleteBlob | AcquireBlobLease | RenewBlobLease
            | ChangeBlobLease | ReleaseBlobLease => (OBJECT, vec![P::WRITE]),
            BreakBlobLease => (OBJECT, vec![P::WRITE, P::DELETE]),
            DeleteBlob => (OBJECT, vec![P::DELETE, P::DELETE_VERSION, P::PERMANENT_DELETE]),
            GetBlobTags | SetBlobTags => (OBJECT, vec![P::TAGS]),
            FindBlobsByTags => (OBJECT, vec![P::FILTER_BY_TAGS]),

            GetTableAcl
            | SetTableAcl
            | GetQueueACL
            | SetQueueACL
            | GetContainerACL
            | SetContainerACL
            | GetUserDelegationKey
            | TablePreflightRequest
            | QueuePreflightRequest
            | BlobPreflightRequest => {
                return None;
            }
        })
    }

    /// Whether a stranger may do it where the container is public.
    pub const fn is_public_read(self) -> bool {
        use Operation::*;
        matches!(
            self,
            GetBlob
                | GetBlobProperties
                | GetBlobMetadata
                | GetBlockList
                | GetPageRanges
                | ListBlobs
                | GetContainerProperties
                | GetContainerMetadata
        )
    }

    /// Whether it reads or changes stored access policies, which a token never does.
    pub const fn is_acl(self) -> bool {
        use Operation::*;
        matches!(self, GetTableAcl | SetTableAcl | GetQueueACL | SetQueueACL | GetContainerACL | SetContainerACL)
    }
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::Service;

    use super::*;

    #[test]
    fn a_service_sas_is_good_for_its_own_service_only() {
        for &operation in Operation::ALL {
            let by_table = operation.table_permissions().is_some();
            let by_queue = operation.queue_permissions().is_some();
            let by_blob = operation.blob_permissions().is_some();
            let expected = |service| operation.service() == service;
            assert!(!by_table || expected(Service::Table), "{operation:?}");
            assert!(!by_queue || expected(Service::Queue), "{operation:?}");
            assert!(!by_blob || expected(Service::Blob), "{operation:?}");
        }
    }

    #[test]
    fn whatever_a_stranger_may_do_changes_nothing() {
        for &operation in Operation::ALL {
            assert!(!operation.is_public_read() || !operation.is_write(), "{operation:?}");
        }
    }
}
