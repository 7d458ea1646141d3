//! Properties and statistics of the service, and stored access policies of a table.

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
    /// Returns the settings of the Table service: logging, metrics and CORS rules.
    pub async fn get_properties(&self) -> Result<ServiceProperties> {
        let response =
            self.pipeline.send(&service_call("GetTableServiceProperties", Method::GET, "properties")).await?;
        ServiceProperties::parse(&response.body, Service::Table).map_err(|error| Error::invalid_response(&error))
    }

    /// Changes the given sections of the settings and keeps the others.
    pub async fn set_properties(&self, update: &ServicePropertiesUpdate) -> Result<()> {
        let call = service_call("SetTableServiceProperties", Method::PUT, "properties");
        self.pipeline.send(&call.static_header(CONTENT_TYPE, XML).body(update.render(Service::Table))).await.map(drop)
    }

    /// Returns the replication status of the secondary region. Only accounts with read access to it have one.
    #[doc(alias = "get_service_stats")]
    pub async fn get_statistics(&self) -> Result<ServiceStats> {
        let endpoint = &self.pipeline.endpoint;
        let unknown = || Error::invalid(format!("{endpoint} has no known secondary: call Endpoint::with_secondary"));
        let secondary = endpoint.secondary().ok_or_else(unknown)?;
        let pipeline = self.pipeline.with(secondary, self.pipeline.credential.clone())?;
        let response = pipeline.send(&service_call("GetTableServiceStats", Method::GET, "stats")).await?;
        ServiceStats::parse(&response.body).map_err(|error| Error::invalid_response(&error))
    }
}

impl TableClient {
    /// Returns the stored access policies of the table. It needs the account's key.
    #[doc(alias = "get_table_access_policy")]
    pub async fn get_access_policies(&self) -> Result<StoredAccessPolicies> {
        let call = Call::new("GetTableAcl", Method::GET, self.path()).query("comp", "acl").static_header(ACCEPT, XML);
        let response = self.pipeline.send(&call).await?;
        StoredAccessPolicies::parse(&response.body, TablePermissions::LETTERS)
            .map_err(|error| Error::invalid_response(&error))
    }

    /// Sets all stored access policies of the table, at most five. A signature with a removed policy is no longer
    /// valid. It needs the account's key.
    #[doc(alias = "set_table_access_policy")]
    pub async fn set_access_policies(&self, policies: &StoredAccessPolicies) -> Result<()> {
        let call = Call::new("SetTableAcl", Method::PUT, self.path()).query("comp", "acl").static_header(ACCEPT, XML);
        self.pipeline.send(&call.static_header(CONTENT_TYPE, XML).body(policies.render())).await.map(drop)
    }
}

fn service_call(operation: &'static str, method: Method, comp: &str) -> Call {
    Call::new(operation, method, "/").query("restype", "service").query("comp", comp).static_header(ACCEPT, XML)
}
