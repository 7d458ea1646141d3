//! A caller whose credentials are valid, and what it may do.

use tablerock_protocol::signing::{
    AccountGrant, AccountPermissions, BlobGrant, BlobPermissions, KeyRange, QueueGrant, SasError, TableGrant,
};
use tablerock_protocol::{ErrorCode, ServiceError, ServiceVersion};

use super::Target;
use crate::operation::{Needs, Operation, ServiceSas};
use crate::request_context::RequestContext;

/// A caller whose credentials have been verified.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// Holds an account key: may run everything.
    Owner,
    /// Holds an Entra token: may run everything, but for stored access policies with an older version.
    Token,
    /// Holds an account SAS.
    Account(AccountGrant),
    /// Holds the SAS of a table.
    Table(TableGrant),
    /// Holds the SAS of the queue that is addressed.
    Queue(QueueGrant),
    /// Holds the SAS of the container or blob that is addressed.
    Blob(Box<BlobGrant>),
    /// Shows no credentials, and may read what is public.
    Anonymous,
}

impl Caller {
    /// Checks the caller's permissions against the operation's row.
    pub(super) fn check(
        &self,
        cx: &RequestContext<'_>,
        operation: Operation,
        target: Target<'_>,
    ) -> Result<(), ServiceError> {
        let row = operation.row();
        match (self, &row.sas) {
            (Self::Owner, _) => Ok(()),
            (Self::Token, _) if operation.is_policy_access() && cx.version < ServiceVersion::TOKEN_POLICIES => {
                Err(ErrorCode::ResourceNotFound.into())
            }
            (Self::Token, _) => Ok(()),
            (Self::Anonymous, _) if operation.is_public_read() => Ok(()),
            (Self::Anonymous, _) => Err(cx.no_credentials()),
            (Self::Account(grant), _) => {
                let (level, needs) = &row.account_sas;
                let (service, level) = (operation.service().signed(), level.unwrap_or_default());
                Ok(needs.check(|alternatives| match operation.takes_create(grant.version) {
                    true => grant.check(service, level, alternatives),
                    false => grant.check(service, level, &[AccountPermissions::WRITE]),
                })?)
            }
            (Self::Table(grant), ServiceSas::Table(needs)) => {
                needs.check_possible()?;
                if let Target::Table(table) = target {
                    grant.check_table(table)?;
                }
                Ok(needs.check(|alternatives| {
                    let granted = alternatives.iter().any(|needed| grant.check_permissions(*needed).is_ok());
                    if granted { Ok(()) } else { Err(SasError::PermissionMismatch) }
                })?)
            }
            (Self::Queue(grant), ServiceSas::Queue(needs)) => Ok(needs.check(|alternatives| {
                let granted = alternatives.iter().any(|needed| grant.check_permissions(*needed).is_ok());
                if granted { Ok(()) } else { Err(SasError::PermissionMismatch) }
            })?),
            (Self::Blob(grant), ServiceSas::Blob(needs)) => {
                Ok(needs.check(|alternatives| match operation.takes_create(grant.version) {
                    true => grant.check_permissions(alternatives),
                    false => grant.check_permissions(&[BlobPermissions::WRITE]),
                })?)
            }
            // A SAS of another service.
            (Self::Table(_) | Self::Queue(_) | Self::Blob(_), _) => Err(ErrorCode::AuthorizationFailure.into()),
        }
    }

    /// Whether the caller may do less than the account's owner.
    pub(super) fn is_limited(&self) -> bool {
        !matches!(self, Self::Owner | Self::Token)
    }

    /// Checks the permission for tags, which a request needs in addition if it reads, writes or compares them.
    pub(super) fn check_tags(&self, cx: &RequestContext<'_>, operation: Operation) -> Result<(), ServiceError> {
        match self {
            Self::Owner | Self::Token => Ok(()),
            Self::Anonymous => Err(cx.no_credentials()),
            Self::Account(grant) => {
                let level = operation.row().account_sas.0.unwrap_or_default();
                Ok(grant.check(operation.service().signed(), level, &[AccountPermissions::TAGS])?)
            }
            Self::Blob(grant) => Ok(grant.check_permissions(&[BlobPermissions::TAGS])?),
            Self::Table(_) | Self::Queue(_) => Err(ErrorCode::AuthorizationFailure.into()),
        }
    }

    /// Whether the caller's authority is about the account as a whole, and covers the operation.
    pub(super) fn covers_account(&self, cx: &RequestContext<'_>, operation: Operation) -> bool {
        match self {
            Self::Owner | Self::Token => true,
            Self::Account(_) => self.check(cx, operation, Target::Service).is_ok(),
            Self::Table(_) | Self::Queue(_) | Self::Blob(_) | Self::Anonymous => false,
        }
    }

    /// Checks that the caller may write the entity with these keys.
    pub(crate) fn check_write(&self, partition_key: &str, row_key: &str) -> Result<(), ServiceError> {
        match self {
            Self::Table(grant) => Ok(grant.check_keys(partition_key, row_key)?),
            _ => Ok(()),
        }
    }

    /// Whether the caller may read the entity with these keys. What is outside its range does not exist for a reader.
    pub(crate) fn can_read(&self, partition_key: &str, row_key: &str) -> bool {
        self.key_range().is_none_or(|keys| keys.contains(partition_key, row_key))
    }

    /// The range of keys that a table SAS is limited to.
    pub(crate) fn key_range(&self) -> Option<&KeyRange> {
        match self {
            Self::Table(grant) => Some(&grant.keys),
            _ => None,
        }
    }

    /// Whether the caller may replace a blob that exists. With only `c` it may not, and gets `UnauthorizedBlobOverwrite`.
    pub(crate) fn can_overwrite(&self) -> bool {
        match self {
            Self::Account(grant) => grant.permissions.contains(AccountPermissions::WRITE),
            Self::Blob(grant) => grant.permissions.contains(BlobPermissions::WRITE),
            _ => true,
        }
    }
}

impl<P: Copy + Default> Needs<P> {
    /// Rejects an operation that no SAS of this kind allows.
    fn check_possible(&self) -> Result<(), ServiceError> {
        if matches!(self, Self::Never) { Err(ErrorCode::AuthorizationFailure.into()) } else { Ok(()) }
    }

    /// Checks a grant, which `check` asks for one of several permissions.
    fn check(&self, check: impl Fn(&[P]) -> Result<(), SasError>) -> Result<(), ServiceError> {
        match self {
            Self::Never => return self.check_possible(),
            Self::Nothing => check(&[P::default()])?,
            Self::OneOf(alternatives) => check(alternatives)?,
            Self::AllOf(all) => all.iter().try_for_each(|one| check(&[*one]))?,
        }
        Ok(())
    }
}
