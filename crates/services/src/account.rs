//! An account's settings for each of its services: logging, metrics, CORS, and those that only blobs have.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Clock, Store};
use tablerock_protocol::xml::{ServiceProperties, ServicePropertiesUpdate};
use tablerock_protocol::{Service, ServiceVersion};

use crate::sharing::Sharing;
use crate::work_lease::WorkLease;
use crate::{Result, keys};

/// Settings of accounts, kept in the store.
#[derive(Debug, Clone)]
pub struct AccountService {
    store: Store,
}

impl AccountService {
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Whether other servers may change the same settings.
    pub(crate) fn sharing(&self) -> Sharing {
        Sharing::of(&self.store)
    }

    /// A lease on work that one of the servers with these settings does.
    pub(crate) fn work_lease(&self, clock: Arc<dyn Clock>, key: impl Into<Bytes>, period: Duration) -> WorkLease {
        WorkLease::new(self.store.clone(), clock, key, period)
    }

    pub async fn service_properties(&self, account: &str, service: Service) -> Result<ServiceProperties> {
        let key = keys::service_properties_key(service);
        let stored = self.store.get(&keys::account_partition(account), key).await?;
        decode(stored.as_ref(), service)
    }

    /// Sections that the update leaves out keep their value.
    pub async fn set_service_properties(
        &self,
        account: &str,
        service: Service,
        update: &ServicePropertiesUpdate,
    ) -> Result<()> {
        let key = Bytes::from_static(keys::service_properties_key(service));
        self.store
            .transact(&keys::account_partition(account), vec![key.clone()], |tx| {
                let mut properties = decode(tx.get(&key), service)?;
                update.clone().apply(&mut properties);
                tx.put(key.clone(), properties.render(service, ServiceVersion::LATEST));
                Ok(())
            })
            .await
    }
}

fn decode(stored: Option<&Bytes>, service: Service) -> Result<ServiceProperties> {
    let Some(xml) = stored else { return Ok(ServiceProperties::default()) };
    let unreadable = |_| tablerock_kv::Error::corrupt("stored service properties cannot be read");
    Ok(ServiceProperties::parse(xml, service).map_err(unreadable)?)
}
