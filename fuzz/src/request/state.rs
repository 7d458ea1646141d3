//! What the server under test holds: as it is at the beginning, and as it can be compared.

mod blob;
mod queue;
mod table;

use tablerock_protocol::Service;
use tablerock_protocol::xml::{ServiceProperties, ServicePropertiesUpdate};
use tablerock_server::Server;

use crate::known_table::ACCOUNT;

/// Everything that a client of one service could see.
#[derive(Debug, PartialEq)]
pub(super) enum State {
    Table(table::State),
    Queue(queue::State),
    Blob(blob::State),
}

/// Texts that only the server can give, and the words that stand for them in an input.
pub(crate) type Places = Vec<(&'static str, String)>;

impl State {
    pub(super) async fn of(server: &Server, service: Service) -> Self {
        match service {
            Service::Table => Self::Table(table::State::of(server).await),
            Service::Queue => Self::Queue(queue::State::of(server).await),
            Service::Blob => Self::Blob(blob::State::of(server).await),
        }
    }
}

pub(super) async fn fill(server: &Server, service: Service) -> Places {
    match service {
        Service::Table => table::fill(server).await,
        Service::Queue => return queue::fill(server).await,
        Service::Blob => return blob::fill(server).await,
    }
    Places::new()
}

/// Back to the beginning, with newer Timestamps.
pub(super) async fn reset(server: &Server, service: Service) -> Places {
    match service {
        Service::Table => table::clear(server).await,
        Service::Queue => queue::clear(server).await,
        Service::Blob => blob::clear(server).await,
    }
    let ServiceProperties { logging, hour_metrics, minute_metrics, cors, delete_retention, static_website, .. } =
        ServiceProperties::default();
    let all = ServicePropertiesUpdate {
        logging: Some(logging),
        hour_metrics: Some(hour_metrics),
        minute_metrics: Some(minute_metrics),
        cors: Some(cors),
        delete_retention: Some(delete_retention),
        static_website: Some(static_website),
        // Nothing takes it back, so it stays at the newest once it was set.
        default_service_version: (service == Service::Blob).then_some(tablerock_protocol::ServiceVersion::LATEST),
    };
    server.settings.set_service_properties(ACCOUNT, service, &all).await.expect("settings can be set");
    fill(server, service).await
}

async fn settings(server: &Server, service: Service) -> ServiceProperties {
    server.settings.service_properties(ACCOUNT, service).await.expect("the account's settings")
}
