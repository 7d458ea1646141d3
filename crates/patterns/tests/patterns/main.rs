//! Every pattern against a server: its story, its writers killed or slow at every step, many at once, its secrets, and
//! what it costs.
//!
//! Without more it is a server in the test's own process. `CLIENT_TEST_CONNECTION_STRING` names another one.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]
#![allow(clippy::duplicate_mod, reason = "each story is a program with the stage among its modules")]

use tablerock_testkit::client as support;

mod contention;
mod costs;
mod killed;
mod killed_large;
mod lists;
mod mortal;
mod poison;
mod races;
mod rebuild;
mod secrets;
mod series;
mod slow;
mod stories;
mod versions;
mod workers;
