// What an example in the documentation runs on: a server of its own, in the process of the doc test that includes this.

#[path = "server.rs"]
#[allow(dead_code, reason = "an example needs a server and its address")]
mod server;

/// Runs an example with the connection string of a new account.
pub(crate) fn run(example: impl AsyncFnOnce(&str) -> tablerock_client::Result<()>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let outcome = runtime.block_on(async {
        let server = server::Server::start(server::ServerOptions::default()).await;
        example(&server.connection_string()).await
    });
    outcome.expect("the example ends well");
}
