//! The gate: authenticate, then authorize by the operation's row. Nothing else decides whether an operation may run.
//!
//! One decision is left to the table functions, because it needs the body: whether the keys of an entity are in the range
//! of a table SAS ([`Caller::check_write`], [`Caller::can_read`]).

use std::borrow::Cow;

use tablerock_kv::Witness;
use tablerock_protocol::{
    BlobName, BlobResource, ContainerName, ErrorCode, QueueName, QueueResource, ServiceError, TableName, TableResource,
};
use tablerock_services::blob::PublicAccess;

use super::{Caller, Credentials, unserved};
use crate::accounts::Account;
use crate::http::endpoint::Endpoint;
use crate::operation::Operation;
use crate::request_context::RequestContext;

/// A parsed request: an operation together with its target.
pub(crate) trait Request {
    fn operation(&self) -> Operation;
}

/// Defines the requests of a service: each variant is named like its operation and carries the target.
macro_rules! requests {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $(($target:ty))?)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names, reason = "variants are named like their operations")]
        pub(crate) enum $name<'a> { $($variant $(($target))?),* }

        impl $crate::auth::Request for $name<'_> {
            fn operation(&self) -> $crate::operation::Operation {
                match self { $(Self::$variant { .. } => $crate::operation::Operation::$variant),* }
            }
        }
    };
}
pub(crate) use requests;

/// A request that may run. Only [`admit`] makes one.
#[derive(Debug)]
pub(crate) struct Admitted<'a, R> {
    pub(crate) request: R,
    pub(crate) caller: Cow<'a, Caller>,
    /// The row of the stored access policy that admitted the request, if one did. Its writes rest on it.
    pub(crate) witness: Option<Witness>,
}

/// On whose authority a request asks to run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Claim<'a> {
    /// A CORS preflight, which browsers send without credentials.
    Preflight,
    /// A request, or a part of a blob batch, with credentials of its own.
    Own(Credentials<'a>),
    /// A part of `$batch`, which acts for the caller of the batch.
    Batch(&'a Caller),
    /// The source of a copy, whose own credentials count. Without any, a copier reads the source if its authority covers the
    /// source's account; otherwise the source has to be public.
    Source { copier: Option<(&'a Caller, &'a Account)>, url: Credentials<'a> },
}

/// The resource that a request addresses, as far as access depends on it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// The service itself, or the list of its tables, queues or containers.
    Service,
    Table(&'a str),
    Queue(&'a QueueName),
    Container(&'a ContainerName),
    Blob(&'a ContainerName, &'a BlobName),
}

/// A rejected request, and how far it came. The error's format depends on that.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) stage: Stage,
    pub(crate) error: ServiceError,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Authentication,
    /// The caller is known, but the request makes no sense.
    Request,
    Authorization,
}

/// Admits a request or rejects it. The caller is authenticated before an error of the request itself is returned, so that
/// strangers learn nothing about what the service understands.
pub(crate) async fn admit<'a, R: Request>(
    cx: &RequestContext<'_>,
    claim: Claim<'a>,
    endpoint: &Endpoint<'_>,
    target: Target<'_>,
    request: Result<R, ServiceError>,
) -> Result<Admitted<'a, R>, Rejection> {
    let at = |stage| move |error| Rejection { stage, error };
    let (caller, witness) = authenticate(cx, claim, endpoint, target).await.map_err(at(Stage::Authentication))?;
    let request = request.map_err(at(Stage::Request))?;
    let operation = request.operation();
    authorize(cx, &caller, operation, endpoint, target).map_err(at(Stage::Authorization))?;
    if let Claim::Own(Credentials { headers, query, .. }) = claim
        && caller.is_limited()
        && operation.concerns_tags(headers, query)
    {
        caller.check_tags(cx, operation).map_err(at(Stage::Authorization))?;
    }
    if matches!(*caller, Caller::Anonymous) {
        check_public_access(cx, endpoint, target).await.map_err(at(Stage::Authorization))?;
    }
    if let Claim::Own(Credentials { headers, query, .. }) = claim
        && !cx.server.is_loose
    {
        unserved::check(operation, headers, query).map_err(at(Stage::Authorization))?;
    }
    Ok(Admitted { request, caller, witness })
}

async fn authenticate<'a>(
    cx: &RequestContext<'_>,
    claim: Claim<'a>,
    endpoint: &Endpoint<'_>,
    target: Target<'_>,
) -> Result<(Cow<'a, Caller>, Option<Witness>), ServiceError> {
    let owned = |(caller, witness)| (Cow::Owned(caller), witness);
    match claim {
        Claim::Preflight => Ok((Cow::Owned(Caller::Owner), None)),
        Claim::Own(credentials) => credentials.authenticate(cx, endpoint.account, target).await.map(owned),
        // The parts of a batch run within the scope of the batch's own witness.
        Claim::Batch(caller) => Ok((Cow::Borrowed(caller), None)),
        Claim::Source { copier: Some((copier, account)), url }
            if !url.are_given()
                && account.name == endpoint.account.name
                && copier.covers_account(cx, Operation::GetBlob) =>
        {
            Ok((Cow::Borrowed(copier), None))
        }
        Claim::Source { url, .. } => url.authenticate(cx, endpoint.account, target).await.map(owned),
    }
}

fn authorize(
    cx: &RequestContext<'_>,
    caller: &Caller,
    operation: Operation,
    endpoint: &Endpoint<'_>,
    target: Target<'_>,
) -> Result<(), ServiceError> {
    if operation.is_write() && !operation.may_only_read() {
        check_writable(endpoint)?;
    }
    caller.check(cx, operation, target)?;
    if target.is_of_analytics() && !operation.is_allowed_on_analytics() {
        return Err(ErrorCode::AuthorizationFailure.into());
    }
    Ok(())
}

/// Rejects a write to the secondary endpoint.
pub(crate) fn check_writable(endpoint: &Endpoint<'_>) -> Result<(), ServiceError> {
    if endpoint.is_secondary {
        let message = "Write operations are not allowed.";
        return Err(ServiceError::with_message(ErrorCode::InsufficientAccountPermissions, message));
    }
    Ok(())
}

/// Checks that the container of the target is public, for the blob alone or for the whole container as the target needs.
async fn check_public_access(
    cx: &RequestContext<'_>,
    endpoint: &Endpoint<'_>,
    target: Target<'_>,
) -> Result<(), ServiceError> {
    let (container, needed) = match target {
        Target::Blob(container, _) => (container, PublicAccess::Blob),
        Target::Container(container) => (container, PublicAccess::Container),
        Target::Service | Target::Table(_) | Target::Queue(_) => {
            return Err(cx.no_credentials());
        }
    };
    let found = cx.server.blobs.container(endpoint.account.name.as_str(), container.as_str(), None).await;
    let access = match found.map_err(ServiceError::from) {
        Ok(container) => container.public_access,
        Err(error) if error.code == ErrorCode::ContainerNotFound => PublicAccess::Private,
        Err(error) => return Err(error),
    };
    if access == PublicAccess::Container || access == needed { Ok(()) } else { Err(cx.no_credentials()) }
}

impl<'a> Target<'a> {
    pub(crate) fn of_table(resource: &'a TableResource) -> Self {
        match resource {
            TableResource::Entities { table }
            | TableResource::Entity { table, .. }
            | TableResource::Nested { table, .. } => Self::Table(table),
            TableResource::Service | TableResource::Tables | TableResource::Table { .. } | TableResource::Batch => {
                Self::Service
            }
        }
    }

    pub(crate) fn of_queue(resource: &'a QueueResource) -> Self {
        resource.queue().map_or(Self::Service, Self::Queue)
    }

    pub(crate) fn of_blob(resource: &'a BlobResource) -> Self {
        match resource {
            BlobResource::Service => Self::Service,
            BlobResource::Container { container } => Self::Container(container),
            BlobResource::Blob { container, blob } => Self::Blob(container, blob),
        }
    }

    fn is_of_analytics(self) -> bool {
        match self {
            Self::Table(table) => TableName::is_of_analytics(table),
            Self::Container(container) | Self::Blob(container, _) => container.as_str() == ContainerName::LOGS,
            Self::Service | Self::Queue(_) => false,
        }
    }
}

impl From<Rejection> for ServiceError {
    fn from(rejection: Rejection) -> Self {
        rejection.error
    }
}
