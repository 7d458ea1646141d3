//! What one case works with: requests to the account, tables of its own, and what to put back afterwards.

use std::sync::{Arc, Mutex};

use tokio::sync::OwnedMutexGuard;

use crate::container::Container;
use crate::expect::{Failure, Outcome};
use crate::queue::Queue;
use crate::request::Request;
use crate::table::Table;
use crate::target::Target;

/// The state that all cases of a run share.
#[derive(Debug)]
pub struct Shared {
    pub target: Target,
    names: Mutex<fastrand::Rng>,
    /// Service properties belong to the whole account, so one case at a time may change them.
    properties: Arc<tokio::sync::Mutex<()>>,
}

impl Shared {
    pub fn new(target: Target) -> Self {
        Self { target, names: Mutex::new(fastrand::Rng::new()), properties: Arc::default() }
    }
}

#[derive(Debug)]
struct BorrowedProperties {
    original: String,
    _turn: OwnedMutexGuard<()>,
}

#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    tables: Mutex<Vec<String>>,
    queues: Mutex<Vec<String>>,
    containers: Mutex<Vec<String>>,
    properties: tokio::sync::Mutex<Option<BorrowedProperties>>,
}

impl Session {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            tables: Mutex::default(),
            queues: Mutex::default(),
            containers: Mutex::default(),
            properties: tokio::sync::Mutex::default(),
        }
    }

    pub fn target(&self) -> &Target {
        &self.shared.target
    }

    /// The service root as the client addresses it.
    pub fn base(&self) -> String {
        self.target().primary.base()
    }

    pub fn request(&self, verb: &str, path: impl Into<String>) -> Request<'_> {
        Request::new(self.target(), verb, path)
    }

    pub fn get(&self, path: impl Into<String>) -> Request<'_> {
        self.request("GET", path)
    }

    pub fn post(&self, path: impl Into<String>) -> Request<'_> {
        self.request("POST", path)
    }

    pub fn put(&self, path: impl Into<String>) -> Request<'_> {
        self.request("PUT", path)
    }

    pub fn delete(&self, path: impl Into<String>) -> Request<'_> {
        self.request("DELETE", path)
    }

    /// Create Table, for a name that is dropped after the case.
    pub fn create(&self, name: &str) -> Request<'_> {
        self.drop_afterwards(name);
        self.post("/Tables").json(serde_json::json!({ "TableName": name }))
    }

    /// Random bytes.
    pub fn random_bytes(&self, count: usize) -> Vec<u8> {
        let mut random = self.shared.names.lock().expect("no case panics while drawing");
        std::iter::repeat_with(|| random.u8(..)).take(count).collect()
    }

    /// A name no other case has. It starts with `conf`, so leftovers of an aborted run are easy to recognise.
    pub fn unused_name(&self) -> String {
        let mut random = self.shared.names.lock().expect("no case panics while drawing");
        std::iter::repeat_with(|| random.lowercase()).take(14).fold("conf".to_owned(), |mut name, letter| {
            name.push(letter);
            name
        })
    }

    /// A new, empty table of the case's own.
    pub async fn table(&self) -> Outcome<Table<'_>> {
        let name = self.unused_name();
        self.create(&name).prefer("return-no-content").send().await?.expect(204)?;
        Ok(Table::new(self, name))
    }

    /// A table that was never created.
    pub fn missing_table(&self) -> Table<'_> {
        Table::new(self, self.unused_name())
    }

    pub fn drop_afterwards(&self, name: &str) {
        self.tables.lock().expect("no case panics while noting a table").push(name.to_owned());
    }

    /// A request to the Queue service. A case for it is skipped where the target has no endpoint for it.
    pub fn to_queues(&self, verb: &str, path: impl Into<String>) -> Outcome<Request<'_>> {
        let queue = self.target().queue.as_ref();
        let at = queue.ok_or_else(|| Failure::skipped("the connection string has no QueueEndpoint"))?;
        Ok(Request::signing_headers(self.target(), at, verb, path))
    }

    /// A new, empty queue of the case's own.
    pub async fn queue(&self) -> Outcome<Queue<'_>> {
        let queue = self.missing_queue();
        queue.create()?.send().await?.expect(201)?;
        Ok(queue)
    }

    /// A queue that was never created. Should the case create it, it is deleted after it.
    pub fn missing_queue(&self) -> Queue<'_> {
        let name = self.unused_name();
        self.delete_afterwards(&name);
        Queue::new(self, name)
    }

    /// A request to the Blob service. A case for it is skipped where the target has no endpoint for it.
    pub fn to_blobs(&self, verb: &str, path: impl Into<String>) -> Outcome<Request<'_>> {
        let blob = self.target().blob.as_ref();
        let at = blob.ok_or_else(|| Failure::skipped("the connection string has no BlobEndpoint"))?;
        Ok(Request::signing_headers(self.target(), at, verb, path))
    }

    /// A new, empty container of the case's own.
    pub async fn container(&self) -> Outcome<Container<'_>> {
        let container = self.missing_container();
        container.create()?.send().await?.expect(201)?;
        Ok(container)
    }

    /// A container that was never created. Should the case create it, it is deleted after it.
    pub fn missing_container(&self) -> Container<'_> {
        let name = self.unused_name();
        self.delete_container_afterwards(&name);
        Container::new(self, name)
    }

    /// Notes a container to be deleted after the case.
    pub fn delete_container_afterwards(&self, container: &str) {
        self.containers.lock().expect("no case panics while noting a container").push(container.to_owned());
    }

    /// Notes a queue to be deleted after the case.
    pub fn delete_afterwards(&self, queue: &str) {
        self.queues.lock().expect("no case panics while noting a queue").push(queue.to_owned());
    }

    /// Get Table Service Properties.
    pub fn get_properties(&self) -> Request<'_> {
        self.get("/").raw_query("restype=service&comp=properties").accept("application/xml")
    }

    /// Set Table Service Properties. A case that changes them calls [`Session::borrow_properties`] first.
    pub fn set_properties(&self, body: &str) -> Request<'_> {
        self.put("/").raw_query("restype=service&comp=properties").xml(body)
    }

    /// Takes the service properties for this case alone; what they were is restored after it.
    pub async fn borrow_properties(&self) -> Outcome {
        let turn = self.shared.properties.clone().lock_owned().await;
        let original = self.get_properties().send().await?.expect(200)?.text();
        let original = original.trim_start_matches('\u{feff}').to_owned();
        *self.properties.lock().await = Some(BorrowedProperties { original, _turn: turn });
        Ok(())
    }

    /// Drops what the case made and restores what it changed. Errors are ignored: the case has had its say.
    pub async fn clean_up(&self) {
        let names = std::mem::take(&mut *self.tables.lock().expect("no case panics while noting a table"));
        for name in names {
            let _ = self.delete(format!("/Tables('{}')", crate::encode::key(&name))).send().await;
        }
        let containers = std::mem::take(&mut *self.containers.lock().expect("no case panics while noting a container"));
        for name in containers {
            let container = Container::new(self, name);
            // A lease that a case left behind would keep the container.
            for request in [container.own_lease("break"), container.request("DELETE")].into_iter().flatten() {
                let request = request.header("x-ms-lease-break-period", "0");
                let _ = request.send().await;
            }
        }
        let queues = std::mem::take(&mut *self.queues.lock().expect("no case panics while noting a queue"));
        for name in queues {
            if let Ok(delete) = self.to_queues("DELETE", format!("/{name}")) {
                let _ = delete.send().await;
            }
        }
        if let Some(borrowed) = self.properties.lock().await.take() {
            let _ = self.set_properties(&borrowed.original).send().await;
        }
    }
}
