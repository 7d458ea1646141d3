//! Logs: to stderr as text or JSON, and to the file of `--debug`.

use std::fs::File;
use std::io::IsTerminal;
use std::sync::Mutex;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::arguments::LogFormat;
use crate::settings::Settings;

pub(crate) fn start(settings: &Settings) -> Result<(), String> {
    let filter = EnvFilter::try_new(directives(&settings.log))
        .map_err(|error| format!("'{}' is not a log filter: {error}; use for example --log debug", settings.log))?;
    let console = match settings.log_format {
        LogFormat::Text => {
            let is_terminal = std::io::stderr().is_terminal();
            fmt::layer().with_ansi(is_terminal).with_writer(std::io::stderr).boxed()
        }
        LogFormat::Json => fmt::layer().json().with_writer(std::io::stderr).boxed(),
    };
    let file = match &settings.debug_file {
        None => None,
        Some(path) => {
            let file = File::options().create(true).append(true).open(path);
            let file = file.map_err(|error| {
                format!("cannot write the log file {}: {error}; choose another with --debug", path.display())
            })?;
            let layer = fmt::layer().with_ansi(false).with_writer(Mutex::new(file));
            Some(layer.with_filter(EnvFilter::new(directives("debug"))))
        }
    };
    // Fails only if a subscriber is already set, which is harmless.
    let _ = tracing_subscriber::registry().with(console.with_filter(filter)).with(file).try_init();
    Ok(())
}

/// A plain level applies to our crates, whose targets all begin with `tablerock`; dependencies log warnings.
fn directives(log: &str) -> String {
    match log {
        "error" | "off" => log.to_owned(),
        "warn" | "info" | "debug" | "trace" => format!("warn,tablerock={log}"),
        filter => filter.to_owned(),
    }
}
