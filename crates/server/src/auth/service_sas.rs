//! The SAS of a table, a queue, a container or a blob.
//!
//! A SAS may rest on a stored access policy, which its service has to be asked for. A resource that is gone has none,
//! so whatever rested on them is refused.

use tablerock_protocol::signing::{BlobSas, BlobSasTarget, QueueSas, TableSas};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{BlobResource, ErrorCode, QueueName, QueueResource, ServiceError, ServiceVersion};
use tablerock_services::TableService;

use super::{Caller, Credentials, Shown};
use crate::pipeline::Server;
use crate::{blob_api, queue_api};

impl Credentials<'_> {
    pub(crate) async fn verify_for_table(&self, tables: &TableService) -> Result<Caller, ServiceError> {
        let parameters = match self.examine()? {
            Shown::Good(caller) => return Ok(caller),
            Shown::ServiceSas(parameters) => parameters,
            Shown::Nothing if self.version >= ServiceVersion::BEARER_TOKEN => {
                return Err(ErrorCode::NoAuthenticationInformation.into());
            }
            Shown::Nothing => return Err(ErrorCode::AuthenticationFailed.into()),
        };
        let sas = TableSas::parse(parameters).map_err(|error| self.refused(error))?;
        sas.verify(self.account.name.as_str(), &self.account.keys).map_err(|error| self.refused(error))?;
        let policies = match sas.identifier() {
            Some(_) => self.table_policies(tables).await?,
            None => StoredAccessPolicies::default(),
        };
        let grant = sas.grant(&policies).map_err(|error| self.refused(error))?;
        grant.constraints.check(&self.origin()).map_err(|error| self.refused(error))?;
        Ok(Caller::Table(grant))
    }

    pub(crate) async fn verify_for_queue(
        &self,
        server: &Server,
        resource: &QueueResource,
    ) -> Result<Caller, ServiceError> {
        let parameters = match self.examine()? {
            Shown::Good(caller) => return Ok(caller),
            Shown::ServiceSas(parameters) => parameters,
            Shown::Nothing => return Err(self.nothing_shown()),
        };
        let sas = QueueSas::parse(parameters).map_err(|error| self.refused(error))?;
        let queue: &QueueName = resource.queue().ok_or(ErrorCode::AuthorizationFailure)?;
        sas.verify(self.account.name.as_str(), queue, &self.account.keys).map_err(|error| self.refused(error))?;
        let policies = match sas.identifier() {
            Some(_) => queue_api::stored_policies(server, self.account.name.as_str(), queue).await?,
            None => StoredAccessPolicies::default(),
        };
        let grant = sas.grant(&policies).map_err(|error| self.refused(error))?;
        grant.constraints.check(&self.origin()).map_err(|error| self.refused(error))?;
        Ok(Caller::Queue(grant))
    }

    /// Whoever shows nothing is let in as a stranger: whether the container is public is looked at later.
    pub(crate) async fn verify_for_blob(
        &self,
        server: &Server,
        resource: &BlobResource,
    ) -> Result<Caller, ServiceError> {
        let parameters = match self.examine()? {
            Shown::Good(caller) => return Ok(caller),
            Shown::ServiceSas(parameters) => parameters,
            Shown::Nothing => return Ok(Caller::Anonymous),
        };
        let sas = BlobSas::parse(parameters).map_err(|error| self.refused(error))?;
        let target = BlobSasTarget {
            container: resource.container().ok_or(ErrorCode::AuthorizationFailure)?,
            blob: match resource {
                BlobResource::Blob { blob, .. } => Some(blob),
                _ => None,
            },
            snapshot: self.query.value("snapshot"),
            version: self.query.value("versionid"),
        };
        sas.verify(self.account.name.as_str(), &target, &self.account.keys).map_err(|error| self.refused(error))?;
        let policies = match sas.identifier() {
            Some(_) => blob_api::stored_policies(server, self.account.name.as_str(), target.container).await?,
            None => StoredAccessPolicies::default(),
        };
        let grant = sas.grant(&policies).map_err(|error| self.refused(error))?;
        grant.constraints.check(&self.origin()).map_err(|error| self.refused(error))?;
        Ok(Caller::Blob(Box::new(grant)))
    }

    /// The answer to a request without credentials where they are needed: clients that can get a token are told so.
    fn nothing_shown(&self) -> ServiceError {
        if self.version >= ServiceVersion::STORAGE_TOKEN {
            ErrorCode::NoAuthenticationInformation.into()
        } else {
            ErrorCode::AuthenticationFailed.into()
        }
    }

    async fn table_policies(&self, tables: &TableService) -> Result<StoredAccessPolicies, ServiceError> {
        let table = self.query.value("tn").unwrap_or_default();
        let policies = tables.table_acl(self.account.name.as_str(), table).await;
        match policies.map_err(|error| error.into_service_error()) {
            Err(error) if error.code == ErrorCode::TableNotFound => Ok(StoredAccessPolicies::default()),
            policies => policies,
        }
    }
}
