//! Logs: to stderr as text or JSON, and to the file of `--debug`.

use std::io::IsTerminal;
use std::sync::Mutex;

use tablerock_server::current_request_id;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Json, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::arguments::LogFormat;
use crate::exposure;
use crate::ports;
use crate::private_file;
use crate::settings::Settings;

pub(crate) fn start(settings: &Settings) -> Result<(), String> {
    let filter = EnvFilter::try_new(directives(&settings.log))
        .map_err(|error| format!("'{}' is not a log filter: {error}; use for example --log debug", settings.log))?;
    let console = match settings.log_format {
        LogFormat::Text => {
            let is_terminal = std::io::stderr().is_terminal();
            let format = WithRequestId::Text(fmt::format());
            fmt::layer().with_ansi(is_terminal).event_format(format).with_writer(std::io::stderr).boxed()
        }
        LogFormat::Json => {
            let layer = fmt::layer().json().event_format(WithRequestId::Json(fmt::format().json()));
            layer.with_writer(std::io::stderr).boxed()
        }
    };
    let file = match &settings.debug_file {
        None => None,
        Some(path) => {
            let file = private_file::append(path).map_err(|error| {
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

/// Adds the id of the current request to events that have no span. Requests have a span only for debugging.
enum WithRequestId {
    Text(Format),
    Json(Format<Json>),
}

impl<S, N> FormatEvent<S, N> for WithRequestId
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> std::fmt::Result {
        let request_id = current_request_id().filter(|_| context.lookup_current().is_none());
        let Some(request_id) = request_id else {
            return match self {
                Self::Text(format) => format.format_event(context, to, event),
                Self::Json(format) => format.format_event(context, to, event),
            };
        };
        let mut line = String::new();
        match self {
            Self::Text(format) => {
                format.format_event(context, Writer::new(&mut line), event)?;
                writeln!(to, "{} request_id={request_id}", line.trim_end())
            }
            Self::Json(format) => {
                format.format_event(context, Writer::new(&mut line), event)?;
                let object = line.trim_end().strip_suffix('}').unwrap_or_default();
                writeln!(to, "{object},\"request_id\":\"{request_id}\"}}")
            }
        }
    }
}

/// A plain level applies to our crates, whose targets all begin with `tablerock`; dependencies log warnings. Warnings of an
/// exposed server, and those about its admin port, pass every filter: they are few, and the operator must not miss them.
fn directives(log: &str) -> String {
    let chosen = match log {
        "warn" | "info" | "debug" | "trace" => format!("warn,tablerock={log}"),
        filter => filter.to_owned(),
    };
    format!("{chosen},{}=warn,{}=warn", exposure::TARGET, ports::TARGET)
}
