//! What a caller whose credentials are good may do.

use tablerock_protocol::signing::{
    AccountGrant, AccountPermissions, BlobGrant, BlobPermissions, QueueGrant, SasError, TableGrant,
};
use tablerock_protocol::{ErrorCode, ServiceError};

use super::refused;
use crate::operation::Operation;

/// A caller whose credentials have been verified.
#[derive(Debug)]
pub(crate) enum Caller {
    /// Holds an account key: may do everything.
    Owner,
    /// Holds an Entra token: everything but access policies.
    Token,
    Account(AccountGrant),
    Table(TableGrant),
    /// Holds the SAS of the queue that is addressed.
    Queue(QueueGrant),
    /// Holds the SAS of the container or blob that is addressed.
    Blob(Box<BlobGrant>),
    /// Shows nothing, and may read what is public. Whether that is so, the Blob service knows.
    Anonymous,
}

impl Caller {
    /// Whether the caller may run an operation on a table, as far as that does not depend on keys; in the other
    /// services, whether it may run the operation on what is addressed.
    pub(crate) fn check(&self, operation: Operation, table: Option<&str>) -> Result<(), ServiceError> {
        match self {
            Self::Owner => Ok(()),
            Self::Token if operation.is_acl() => Err(ErrorCode::ResourceNotFound.into()),
            Self::Token => Ok(()),
            Self::Account(grant) => {
                let (level, alternatives) = operation.account_permissions().ok_or(ErrorCode::AuthorizationFailure)?;
                grant.check(operation.service().signed(), level, &alternatives).map_err(refused)
            }
            Self::Table(grant) => {
                let needed = operation.table_permissions().ok_or(ErrorCode::AuthorizationFailure)?;
                if let Some(table) = table {
                    grant.check_table(table).map_err(refused)?;
                }
                grant.check_permissions(needed).map_err(refused)
            }
            Self::Queue(grant) => {
                let needed = operation.queue_permissions().ok_or(ErrorCode::AuthorizationFailure)?;
                grant.check_permissions(needed).map_err(refused)
            }
            Self::Blob(grant) => {
                let alternatives = operation.blob_permissions().ok_or(ErrorCode::AuthorizationFailure)?;
                grant.check_permissions(&alternatives).map_err(refused)
            }
            Self::Anonymous if operation.is_public_read() => Ok(()),
            Self::Anonymous => Err(ErrorCode::NoAuthenticationInformation.into()),
        }
    }

    /// Whether the caller may write the entity with these keys.
    pub(crate) fn check_write(&self, partition_key: &str, row_key: &str) -> Result<(), ServiceError> {
        match self {
            Self::Table(grant) => grant.check_keys(partition_key, row_key).map_err(refused),
            _ => Ok(()),
        }
    }

    /// What is outside a caller's range does not exist for a reader.
    pub(crate) fn can_read(&self, partition_key: &str, row_key: &str) -> bool {
        match self {
            Self::Table(grant) => grant.keys.contains(partition_key, row_key),
            _ => true,
        }
    }

    /// Whether the caller may replace a blob that exists: one with only `c` may not, and hears
    /// `UnauthorizedBlobOverwrite`.
    pub(crate) fn can_overwrite(&self) -> bool {
        match self {
            Self::Account(grant) => grant.permissions.contains(AccountPermissions::WRITE),
            Self::Blob(grant) => grant.permissions.contains(BlobPermissions::WRITE),
            _ => true,
        }
    }
}

/// Where a SAS fails, and what the other services add to that: tables do not say why.
pub(super) fn detailed(error: SasError) -> ServiceError {
    let refusal = refused(error);
    match refusal.code {
        ErrorCode::AuthenticationFailed => refusal.detail("AuthenticationErrorDetail", error.to_string()),
        _ => refusal,
    }
}
