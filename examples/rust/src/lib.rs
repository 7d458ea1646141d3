//! A to-do service: tables with an index entity, and a queue worker. See `examples/README.md`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tablerock_client::{
    Etag, QueueClient, QueueServiceClient, Result, TableClient, TableEntity, TableOperation, TableServiceClient,
};

const USAGE: &str = "use: add LIST DATE TITLE | list LIST | done LIST ID | work | archive LIST";

/// The time in which a worker handles a message. Then the message is visible again.
const WORK_TIME: Duration = Duration::from_secs(30);

#[derive(TableEntity, Debug)]
#[entity(rename_all = "PascalCase")]
struct Item {
    #[entity(partition_key)]
    list: String,
    #[entity(row_key)]
    key: String,
    title: String,
    due: String,
    done: bool,
    #[entity(etag)]
    etag: Option<Etag>,
}

/// An index entity, or an archived item.
#[derive(TableEntity, Debug)]
#[entity(rename_all = "PascalCase")]
struct Titled {
    #[entity(partition_key)]
    list: String,
    #[entity(row_key)]
    key: String,
    title: String,
}

/// The content of a message.
#[derive(Serialize, Deserialize, Debug)]
struct Job {
    list: String,
    id: String,
}

#[derive(Debug)]
struct Todo {
    todos: TableClient,
    archive: TableClient,
    queue: QueueClient,
}

impl Todo {
    async fn open(connection_string: &str) -> Result<Self> {
        let tables = TableServiceClient::from_connection_string(connection_string)?;
        let queue = QueueServiceClient::from_connection_string(connection_string)?.queue("todo-done");
        let todo = Self { todos: tables.table("Todos"), archive: tables.table("Archive"), queue };
        todo.todos.create_if_not_exists().await?;
        todo.archive.create_if_not_exists().await?;
        todo.queue.create_if_not_exists().await?;
        Ok(todo)
    }

    async fn add(&self, list: &str, due: &str, title: &str) -> Result<Vec<String>> {
        let mut random = [0; 3];
        getrandom::fill(&mut random).expect("the system has random numbers");
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let (list, title) = (list.to_owned(), title.to_owned());
        let index = Titled { list: list.clone(), key: format!("due_{due}_{id}"), title: title.clone() };
        let item = Item { list, key: format!("item_{id}"), title, due: due.to_owned(), done: false, etag: None };
        self.todos.transaction().insert(&item).insert(&index).commit().await?;
        Ok(vec![id])
    }

    async fn list(&self, list: &str) -> Result<Vec<String>> {
        let found = self.todos.query::<Titled>().partition(list).row_prefix("due_").all().await?;
        let line = |Titled { key, title, .. }: Titled| {
            let (due, id) = key.trim_start_matches("due_").split_once('_').unwrap_or_default();
            format!("{due} {id} {title}")
        };
        Ok(found.into_iter().map(line).collect())
    }

    async fn done(&self, list: &str, id: &str) -> Result<Vec<String>> {
        let Some(mut item) = self.item(list, id).await? else {
            return Ok(vec![format!("no item {id} in {list}")]);
        };
        if !item.done {
            // The item has the ETag that was read, so a change by another caller in between fails the transaction.
            item.done = true;
            let index = TableOperation::delete_by_keys(list, format!("due_{}_{id}", item.due)).any_version();
            self.todos.transaction().operation(TableOperation::merge(&item)).operation(index).commit().await?;
        }
        // After the transaction: a message about an item that is not done would be lost work. A repeated one is harmless.
        let job = Job { list: list.to_owned(), id: id.to_owned() };
        self.queue.send_message(serde_json::to_string(&job).expect("two texts have a JSON form")).await?;
        Ok(vec![format!("done {id}")])
    }

    async fn work(&self) -> Result<Vec<String>> {
        let mut archived = 0;
        // A worker that ends before the delete loses nothing: the message is visible again after a while.
        while let Some(message) = self.queue.receive_message().visibility_timeout(WORK_TIME).await? {
            if let Ok(Job { list, id }) = serde_json::from_str(&message.text)
                // Without an item, an earlier delivery of this message archived it.
                && let Some(item) = self.item(&list, &id).await?
            {
                self.archive.insert_or_replace(&Titled { list, key: id, title: item.title.clone() }).await?;
                self.todos.delete(&item).any_version().if_exists().await?;
                archived += 1;
            }
            self.queue.delete_message(&message).await?;
        }
        Ok(vec![format!("archived {archived}")])
    }

    async fn archived(&self, list: &str) -> Result<Vec<String>> {
        let found = self.archive.query::<Titled>().partition(list).all().await?;
        Ok(found.into_iter().map(|item| item.title).collect())
    }

    async fn item(&self, list: &str, id: &str) -> Result<Option<Item>> {
        self.todos.get_if_exists(list, format!("item_{id}")).await
    }
}

/// Runs one command and returns the lines that it prints.
pub async fn run(connection_string: &str, arguments: &[&str]) -> Result<Vec<String>> {
    let todo = Todo::open(connection_string).await?;
    match arguments {
        ["add", list, due, title] => todo.add(list, due, title).await,
        ["list", list] => todo.list(list).await,
        ["done", list, id] => todo.done(list, id).await,
        ["work"] => todo.work().await,
        ["archive", list] => todo.archived(list).await,
        _ => Ok(vec![USAGE.to_owned()]),
    }
}

/// The page about Rust compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sdk/rust.md")]
struct Page;
