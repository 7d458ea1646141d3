//! A server with an empty data directory, and a session of requests to it.

use std::sync::Arc;

use tablerock_conformance::session::Shared;
use tablerock_conformance::{Failure, Session, Target};

use crate::run::{DataDirectory, Run};
use crate::server::Server;

/// One running server. Its data directory is kept if the check fails.
pub(super) struct Fixture {
    pub(super) directory: DataDirectory,
    server: Server,
    pub(super) session: Session,
}

impl Fixture {
    pub(super) async fn start(run: &Run, name: &str) -> Result<Self, String> {
        let directory = DataDirectory::create(run, name)?;
        let server = directory.start().await?;
        let target = Target::clone(&run.program.target());
        Ok(Self { directory, server, session: Session::new(Arc::new(Shared::new(target))) })
    }

    /// Stops the server and returns its data directory.
    pub(super) async fn stop(self) -> Result<DataDirectory, String> {
        self.server.stop().await?;
        Ok(self.directory)
    }
}

/// The text of a failed expectation.
pub(super) fn text(failure: Failure) -> String {
    failure.message
}
