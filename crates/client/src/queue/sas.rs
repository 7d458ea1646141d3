//! Shared access signatures for a queue.

use tablerock_protocol::QueueName;
use tablerock_protocol::signing::QueueSasTerms;

use super::QueueClient;
use crate::entity::IntoDateTime;
use crate::sas::{QueuePermissions, QueueSas, signing_key};
use crate::{Error, Result};

impl QueueClient {
    /// A signature for this queue. See [`sas`](crate::sas).
    pub fn sas(&self, permissions: QueuePermissions, expiry: impl IntoDateTime) -> QueueSas {
        self.sas_with(|queue| QueueSasTerms::new(queue, permissions, expiry.into_date_time()))
    }

    /// A signature whose terms a stored access policy gives. What the policy leaves open has to be said here.
    pub fn sas_by_policy(&self, id: impl Into<String>) -> QueueSas {
        self.sas_with(|queue| QueueSasTerms::from_policy(queue, id))
    }

    fn sas_with(&self, terms: impl FnOnce(QueueName) -> QueueSasTerms) -> QueueSas {
        let terms: Result<QueueSasTerms> = QueueName::parse(self.name()).map(terms).map_err(Error::from);
        QueueSas::with_terms(terms, signing_key(&self.pipeline.credential))
    }
}
