//! Shared access signatures for a queue.

use tablerock_protocol::QueueName;
use tablerock_protocol::signing::QueueSasTerms;

use super::QueueClient;
use crate::entity::IntoDateTime;
use crate::sas::{QueuePermissions, QueueSas, signing_key};
use crate::{Error, Result};

impl QueueClient {
    /// Begins a signature for this queue. See [`sas`](crate::sas).
    #[doc(alias = "generate_sas")]
    #[doc(alias = "GenerateSasUri")]
    pub fn sas(&self, permissions: QueuePermissions, expiry: impl IntoDateTime) -> QueueSas {
        self.sas_with(|queue| QueueSasTerms::new(queue, permissions, expiry.into_date_time()))
    }

    /// Begins a signature with the terms of a stored access policy. The signature sets the terms that the policy lacks.
    pub fn sas_from_policy(&self, id: impl Into<String>) -> QueueSas {
        self.sas_with(|queue| QueueSasTerms::from_policy(queue, id))
    }

    fn sas_with(&self, terms: impl FnOnce(QueueName) -> QueueSasTerms) -> QueueSas {
        let terms: Result<QueueSasTerms> = QueueName::parse(self.name()).map(terms).map_err(Error::from);
        QueueSas::with_terms(terms, signing_key(&self.pipeline.credential))
    }
}
