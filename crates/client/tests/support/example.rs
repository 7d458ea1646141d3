// The examples of the documentation include this file; it runs them, each with a server of its own.

#[allow(unused_imports, reason = "an example uses one of the two")]
pub(crate) use tablerock_testkit::client::example::{run, with_people};
