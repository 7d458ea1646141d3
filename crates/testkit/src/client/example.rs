//! Runs the examples of the documentation: each with a server of its own, in the process of the doc test.

use tablerock_client::{Entity, Result, TableClient, TableServiceClient};

use crate::server::{Server, ServerOptions};

/// Runs an example with the connection string of a new account.
pub fn run(example: impl AsyncFnOnce(&str) -> Result<()>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let outcome = runtime.block_on(async {
        let server = Server::start(ServerOptions::default()).await;
        example(&server.connection_string()).await
    });
    outcome.expect("the example ends well");
}

/// Runs an example with a table that has two employees.
pub fn with_people(example: impl AsyncFnOnce(TableClient) -> Result<()>) {
    run(async |connection| {
        let people = TableServiceClient::from_connection_string(connection)?.table("People");
        people.create().await?;
        for (id, name, age) in [("00001", "Ash", 41), ("00002", "Birch", 29)] {
            let employee = Entity::new("Sales", id).with("LastName", name).with("Age", age);
            people.insert(&employee.with("Email", format!("{}@example.com", name.to_lowercase()))).await?;
        }
        example(people).await
    });
}
