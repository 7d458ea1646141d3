//! Properties and statistics of the service, and stored access policies of a table.

use std::sync::Arc;

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use tablerock_protocol::Service;
use tablerock_protocol::xml::{ServiceProperties, ServicePropertiesUpdate, ServiceStats};

use super::{TableClient, TableServiceClient};
use crate::access_policy;
use crate::pipeline::Call;
use crate::sas::{StoredAccessPolicy, TablePermissions};
use crate::{Error, Request};

const XML: &str = "application/xml";

impl TableServiceClient {
    /// Returns the settings of the Table service: logging, metrics and CORS rules.
    pub fn get_properties(&self) -> Request<ServiceProperties> {
        let call = service_call("GetTableServiceProperties", Method::GET, "properties");
        Request::single(&self.pipeline, Ok(call), |response| {
            ServiceProperties::parse(&response.body, Service::Table).map_err(|error| Error::invalid_response(&error))
        })
    }

    /// Changes the given sections of the settings and keeps the others.
    pub fn set_properties(&self, update: &ServicePropertiesUpdate) -> Request<()> {
        let call = service_call("SetTableServiceProperties", Method::PUT, "properties");
        let call = call.static_header(CONTENT_TYPE, XML).body(update.render(Service::Table));
        Request::single(&self.pipeline, Ok(call), |_| Ok(()))
    }

    /// Returns the replication status of the secondary region. Only accounts with read access to it have one.
    #[doc(alias = "get_service_stats")]
    pub fn get_statistics(&self) -> Request<ServiceStats> {
        let endpoint = &self.pipeline.endpoint;
        let unknown = || Error::invalid(format!("{endpoint} has no known secondary: call Endpoint::with_secondary"));
        let secondary = endpoint.secondary().ok_or_else(unknown);
        let pipeline = secondary.and_then(|secondary| self.pipeline.with(secondary, self.pipeline.credential.clone()));
        let (pipeline, call) = match pipeline {
            Ok(pipeline) => (Arc::new(pipeline), Ok(service_call("GetTableServiceStats", Method::GET, "stats"))),
            Err(error) => (Arc::clone(&self.pipeline), Err(error)),
        };
        Request::single(&pipeline, call, |response| {
            ServiceStats::parse(&response.body).map_err(|error| Error::invalid_response(&error))
        })
    }
}

impl TableClient {
    /// Returns the stored access policies of the table. It needs the account's key.
    #[doc(alias = "get_table_access_policy")]
    pub fn get_access_policies(&self) -> Request<Vec<StoredAccessPolicy<TablePermissions>>> {
        let call = Call::new("GetTableAcl", Method::GET, self.path()).query("comp", "acl").static_header(ACCEPT, XML);
        Request::single(&self.pipeline, Ok(call), |response| access_policy::parse(&response.body))
    }

    /// Sets all stored access policies of the table, at most five. A signature with a removed policy is no longer
    /// valid. It needs the account's key.
    #[doc(alias = "set_table_access_policy")]
    pub fn set_access_policies(&self, policies: &[StoredAccessPolicy<TablePermissions>]) -> Request<()> {
        let call = Call::new("SetTableAcl", Method::PUT, self.path()).query("comp", "acl").static_header(ACCEPT, XML);
        let call = call.static_header(CONTENT_TYPE, XML).body(access_policy::render(policies));
        Request::single(&self.pipeline, Ok(call), |_| Ok(()))
    }
}

fn service_call(operation: &'static str, method: Method, comp: &str) -> Call {
    Call::new(operation, method, "/").query("restype", "service").query("comp", comp).static_header(ACCEPT, XML)
}
