//! Where there is no data yet: who can read what a start creates, and a start that must not create any.

use std::fs;

use super::stored_blobs::{check_message, data};
use crate::run::{DataDirectory, Run};
use crate::server::Server;

/// The data directory and the log of `--debug` are for their owner alone.
#[cfg(unix)]
pub(super) async fn private(run: &Run) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = DataDirectory::create(run, "exposure-private")?;
    let log = directory.location.join("requests.log");
    let program = run.program.with_arguments(&["--debug", &log.display().to_string()]);
    let server = Server::start(&program, &directory.location, None).await?;
    server.stop().await?;
    for path in [data(&directory), log] {
        let metadata = fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("{} has mode {mode:o}", path.display()));
        }
    }
    directory.clean_up();
    Ok(())
}

#[cfg(not(unix))]
pub(super) async fn private(_: &Run) -> Result<(), String> {
    Ok(())
}

/// With `--existing`, a start in an empty folder fails and leaves nothing there; with data it succeeds.
pub(super) async fn existing(run: &Run) -> Result<(), String> {
    let directory = DataDirectory::create(run, "exposure-existing")?;
    let program = run.program.with_arguments(&["--existing"]);
    fs::create_dir(data(&directory)).map_err(|error| error.to_string())?;
    match Server::spawn(&program, &directory.location, None)?.ready().await {
        Ok(_) => return Err("the server starts without data".to_owned()),
        Err(error) => check_message(&error, "has no data")?,
    }
    let left = fs::read_dir(data(&directory)).map_err(|error| error.to_string())?.count();
    if left > 0 {
        return Err(format!("a refused start left {left} files"));
    }
    directory.start().await?.stop().await?;
    Server::start(&program, &directory.location, None).await?.stop().await?;
    directory.clean_up();
    Ok(())
}
