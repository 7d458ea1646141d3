//! Every operation that the server knows. Logs, metrics, permissions and the compatibility table use these names.

use tablerock_protocol::signing::{AccountPermissions, SignedResourceTypes, TablePermissions};

macro_rules! operations {
    ($($variant:ident)*) => {
        /// An operation of the Table service, by the name that Storage Analytics gives it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation { $($variant),* }

        impl Operation {
            pub const ALL: &[Operation] = &[$(Operation::$variant),*];

            pub const fn name(self) -> &'static str {
                match self { $(Operation::$variant => stringify!($variant)),* }
            }
        }
    };
}

operations! {
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
    TablePreflightRequest
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
        )
    }

    /// Whether its bodies are XML, which the service's front end answers, errors included.
    pub const fn is_xml(self) -> bool {
        use Operation::*;
        matches!(
            self,
            GetTableAcl | SetTableAcl | GetTableServiceProperties | SetTableServiceProperties | GetTableServiceStats
        )
    }

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

    /// What an account SAS must cover: a level of resources, and one of several permissions; `None` if no such
    /// SAS is enough.
    pub fn account_permissions(self) -> Option<(SignedResourceTypes, Vec<AccountPermissions>)> {
        use Operation::*;
        type P = AccountPermissions;
        let (level, alternatives) = match self {
            GetTableServiceProperties | GetTableServiceStats => (SignedResourceTypes::SERVICE, vec![P::READ]),
            SetTableServiceProperties => (SignedResourceTypes::SERVICE, vec![P::WRITE]),
            QueryTables | QueryTable => (SignedResourceTypes::CONTAINER, vec![P::LIST]),
            CreateTable => (SignedResourceTypes::CONTAINER, vec![P::CREATE, P::WRITE]),
            DeleteTable => (SignedResourceTypes::CONTAINER, vec![P::DELETE]),
            QueryEntities | QueryEntity => (SignedResourceTypes::OBJECT, vec![P::READ]),
            InsertEntity => (SignedResourceTypes::OBJECT, vec![P::ADD]),
            UpdateEntity | MergeEntity => (SignedResourceTypes::OBJECT, vec![P::UPDATE]),
            InsertOrReplaceEntity | InsertOrMergeEntity => (SignedResourceTypes::OBJECT, vec![P::ADD | P::UPDATE]),
            DeleteEntity => (SignedResourceTypes::OBJECT, vec![P::DELETE]),
            EntityGroupTransaction => (SignedResourceTypes::OBJECT, vec![P::default()]),
            GetTableAcl | SetTableAcl | TablePreflightRequest => return None,
        };
        Some((level, alternatives))
    }
}
