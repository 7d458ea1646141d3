//! What the service and its tables can be asked and told about themselves, in XML: properties, statistics and stored
//! access policies.

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use tablerock_protocol::Service;
use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::{ServiceProperties, ServicePropertiesUpdate, ServiceStats, StoredAccessPolicies};

use super::{TableClient, TableServiceClient};
use crate::pipeline::Call;
use crate::{Error, Result};

const XML: &str = "application/xml";

impl TableServiceClient {
    /// Logging, metrics and CORS of the account's tables.
    pub async fn properties(&self) -> Result<ServiceProperties> {
        let answer = self.pipeline.send(&of_service("GetTableServiceProperties", Method::GET, "properties")).await?;
        ServiceProperties::parse(&answer.body, Service::Table).map_err(|error| Error::unreadable(&error))
    }

    /// Changes the sections that are given and leaves the others alone.
    pub async fn set_properties(&self, update: &ServicePropertiesUpdate) -> Result<()> {
        let call = of_service("SetTableServiceProperties", Method::PUT, "properties");
        self.pipeline.send(&call.own_header(CONTENT_TYPE, XML).body(update.render(Service::Table))).await.map(drop)
    }

    /// How far the account's other region has followed. Only accounts with read access to it have an answer.
    pub async fn statistics(&self) -> Result<ServiceStats> {
        let secondary = self.pipeline.endpoint.secondary();
        let secondary = secondary.ok_or_else(|| Error::invalid("the endpoint does not name its account"))?;
        let pipeline = self.pipeline.with(secondary, self.pipeline.credential.clone())?;
        let answer = pipeline.send(&of_service("GetTableServiceStats", Method::GET, "stats")).await?;
        ServiceStats::parse(&answer.body).map_err(|error| Error::unreadable(&error))
    }
}

impl TableClient {
    /// The table's stored access policies, which shared access signatures can refer to. Takes the account's key.
    pub async fn access_policies(&self) -> Result<StoredAccessPolicies> {
        let call = Call::new("GetTableAcl", Method::GET, self.path()).query("comp", "acl").own_header(ACCEPT, XML);
        let answer = self.pipeline.send(&call).await?;
        StoredAccessPolicies::parse(&answer.body, TablePermissions::LETTERS).map_err(|error| Error::unreadable(&error))
    }

    /// Sets all of the table's stored access policies, at most five. A signature that refers to one that is gone is
    /// worth nothing from then on. Takes the account's key.
    pub async fn set_access_policies(&self, policies: &StoredAccessPolicies) -> Result<()> {
        let call = Call::new("SetTableAcl", Method::PUT, self.path()).query("comp", "acl").own_header(ACCEPT, XML);
        self.pipeline.send(&call.own_header(CONTENT_TYPE, XML).body(policies.render())).await.map(drop)
    }
}

fn of_service(operation: &'static str, method: Method, comp: &str) -> Call {
    Call::new(operation, method, "/").query("restype", "service").query("comp", comp).own_header(ACCEPT, XML)
}
