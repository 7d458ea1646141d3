//! The client against a server.
//!
//! By default the server runs in the test's own process. `CLIENT_TEST_CONNECTION_STRING` names another one.

use tablerock_testkit::client as support;

mod coming_from;
mod encryption;
mod queues_and_blobs;
mod table_client;
