//! The SAS of a table, a queue, a container or a blob, which may rest on a stored access policy.

use tablerock_kv::Witness;
use tablerock_protocol::signing::{BlobSas, BlobSasTarget, QueueSas, SasParameters, TableSas};
use tablerock_protocol::{ErrorCode, Service, ServiceError};

use super::credentials::Verifier;
use super::{Caller, Target, policies};

/// Verifies a parsed SAS whose signature covers the arguments, and turns it into a grant. The three kinds have the same
/// steps and no common type. Returns the row of the stored access policy as well, if it rests on one.
macro_rules! verify {
    ($verifier:ident, $sas:ident, ($($signed:expr),*), $policies:path, $named:expr) => {{
        let account = $verifier.account.name.as_str();
        let reject = |error| $verifier.rejection(error);
        $sas.verify(account, $($signed,)* &$verifier.account.keys).map_err(reject)?;
        let (policies, witness) = match $sas.identifier() {
            Some(id) => $policies($verifier.cx.server, account, $named, id).await?,
            None => Default::default(),
        };
        let grant = $sas.grant(&policies).map_err(reject)?;
        grant.constraints.check(&$verifier.origin()).map_err(reject)?;
        (grant, witness)
    }};
}

impl Verifier<'_> {
    pub(super) async fn verify_service_sas(
        &self,
        parameters: SasParameters<'_>,
        target: Target<'_>,
    ) -> Result<(Caller, Option<Witness>), ServiceError> {
        let reject = |error| self.rejection(error);
        match (self.cx.service, target) {
            // The SAS names its table itself.
            (Service::Table, _) => {
                let sas = TableSas::parse(parameters).map_err(reject)?;
                let table = self.shown.query.value("tn").unwrap_or_default();
                let (grant, witness) = verify!(self, sas, (), policies::of_table, table);
                Ok((Caller::Table(grant), witness))
            }
            (Service::Queue, target) => {
                let sas = QueueSas::parse(parameters).map_err(reject)?;
                let Target::Queue(queue) = target else { return Err(ErrorCode::AuthorizationFailure.into()) };
                let (grant, witness) = verify!(self, sas, (queue), policies::of_queue, queue);
                Ok((Caller::Queue(grant), witness))
            }
            (Service::Blob, target) => {
                let sas = BlobSas::parse(parameters).map_err(reject)?;
                let (container, blob) = match target {
                    Target::Blob(container, blob) => (container, Some(blob)),
                    Target::Container(container) => (container, None),
                    Target::Service | Target::Table(_) | Target::Queue(_) => {
                        return Err(ErrorCode::AuthorizationFailure.into());
                    }
                };
                let (snapshot, version) = (self.shown.query.value("snapshot"), self.shown.query.value("versionid"));
                let signed = BlobSasTarget { container, blob, snapshot, version };
                let (grant, witness) = verify!(self, sas, (&signed), policies::of_container, container);
                Ok((Caller::Blob(Box::new(grant)), witness))
            }
        }
    }
}
