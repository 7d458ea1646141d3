//! The account of an example, with tables, queues and containers that are deleted at its end.

#![allow(dead_code, reason = "each story uses what it needs")]

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Mutex;

use tablerock_client::{
    BlobServiceClient, ClientOptions, ContainerClient, Etag, QueueClient, QueueServiceClient, Result, TableClient,
    TableEntity, TableServiceClient,
};

const VARIABLE: &str = "AZURE_STORAGE_CONNECTION_STRING";

/// An employee of the company in the guide.
#[derive(TableEntity, Debug, Clone)]
#[entity(rename_all = "PascalCase")]
pub(crate) struct Employee {
    #[entity(partition_key)]
    pub(crate) department: String,
    #[entity(row_key)]
    pub(crate) id: String,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) email: String,
    pub(crate) age: i32,
    #[entity(etag)]
    pub(crate) etag: Option<Etag>,
}

/// Compares all but the version.
impl PartialEq for Employee {
    fn eq(&self, other: &Self) -> bool {
        let compared = |one: &Self| {
            let Self { department, id, first_name, last_name, email, age, .. } = one.clone();
            (department, id, first_name, last_name, email, age)
        };
        compared(self) == compared(other)
    }
}

pub(crate) fn employee(department: &str, id: &str, first_name: &str, last_name: &str, age: i32) -> Employee {
    let email = format!("{}{}@contoso.com", last_name.to_lowercase(), first_name[..1].to_lowercase());
    let [department, id, first_name, last_name] = [department, id, first_name, last_name].map(str::to_owned);
    Employee { department, id, first_name, last_name, email, age, etag: None }
}

/// The services of an example, and the resources to delete.
pub(crate) struct Stage {
    pub(crate) tables: TableServiceClient,
    pub(crate) queues: QueueServiceClient,
    pub(crate) blobs: BlobServiceClient,
    suffix: String,
    props: Mutex<Vec<Prop>>,
}

enum Prop {
    Table(TableClient),
    Queue(QueueClient),
    Container(ContainerClient),
}

/// Returns the connection string of the environment, or of the server on this machine.
pub(crate) fn connection_string() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| "UseDevelopmentStorage=true".to_owned())
}

impl Stage {
    pub(crate) fn new(connection_string: &str) -> Result<Self> {
        Self::with_options(connection_string, ClientOptions::new())
    }

    pub(crate) fn with_options(connection_string: &str, options: ClientOptions) -> Result<Self> {
        Ok(Self {
            tables: TableServiceClient::from_connection_string_with(connection_string, options.clone())?,
            queues: QueueServiceClient::from_connection_string_with(connection_string, options.clone())?,
            blobs: BlobServiceClient::from_connection_string_with(connection_string, options)?,
            suffix: format!("{:x}", RandomState::new().hash_one(())),
            props: Mutex::default(),
        })
    }

    /// Creates a table.
    pub(crate) async fn table(&self, name: &str) -> Result<TableClient> {
        let table = self.tables.table(format!("{name}x{}", self.suffix));
        table.create_if_not_exists().await?;
        self.remember(Prop::Table(table.clone()));
        Ok(table)
    }

    pub(crate) async fn queue(&self, name: &str) -> Result<QueueClient> {
        let queue = self.queues.queue(format!("{name}-{}", self.suffix));
        queue.create_if_not_exists().await?;
        self.remember(Prop::Queue(queue.clone()));
        Ok(queue)
    }

    pub(crate) async fn container(&self, name: &str) -> Result<ContainerClient> {
        let container = self.blobs.container(format!("{name}-{}", self.suffix));
        container.create_if_not_exists().await?;
        self.remember(Prop::Container(container.clone()));
        Ok(container)
    }

    /// Returns a unique name for a resource that the example deletes itself.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{name}x{}", self.suffix)
    }

    fn remember(&self, prop: Prop) {
        self.props.lock().expect("the lock is not poisoned").push(prop);
    }

    /// Deletes all resources.
    pub(crate) async fn close(self) -> Result<()> {
        for prop in self.props.into_inner().expect("the lock is not poisoned") {
            match prop {
                Prop::Table(table) => drop(table.delete_table_if_exists().await?),
                Prop::Queue(queue) => drop(queue.delete_queue_if_exists().await?),
                Prop::Container(container) => drop(container.delete_container_if_exists().await?),
            }
        }
        Ok(())
    }
}
