//! An account's settings for the Table service: logging, metrics and CORS.

use tablerock_kv::{Bytes, Store};
use tablerock_protocol::ServiceVersion;
use tablerock_protocol::xml::{ServiceProperties, ServicePropertiesUpdate};

use crate::{Result, keys};

/// Settings of accounts, kept in the store.
#[derive(Debug)]
pub struct AccountService {
    store: Store,
}

impl AccountService {
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    pub async fn table_service_properties(&self, account: &str) -> Result<ServiceProperties> {
        let stored = self.store.get(&keys::account_partition(account), keys::TABLE_SERVICE_PROPERTIES).await?;
        decode(stored.as_ref())
    }

    /// Sections that the update leaves out keep their value.
    pub async fn set_table_service_properties(&self, account: &str, update: &ServicePropertiesUpdate) -> Result<()> {
        let key = Bytes::from_static(keys::TABLE_SERVICE_PROPERTIES);
        self.store
            .transact(&keys::account_partition(account), vec![key.clone()], |tx| {
                let mut properties = decode(tx.get(&key))?;
                update.clone().apply(&mut properties);
                tx.put(key.clone(), properties.render(ServiceVersion::LATEST));
                Ok(())
            })
            .await
    }
}

fn decode(stored: Option<&Bytes>) -> Result<ServiceProperties> {
    let Some(xml) = stored else { return Ok(ServiceProperties::default()) };
    let unreadable = |_| tablerock_kv::Error::corrupt("stored service properties cannot be read");
    Ok(ServiceProperties::parse(xml).map_err(unreadable)?)
}
