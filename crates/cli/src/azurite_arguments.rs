//! The flags and variables of Azurite that Tablerock does not have, and the command line under Azurite's names.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _};
use tablerock_protocol::Service;

use crate::arguments::Arguments;
use crate::program::Program;

/// Flags of Azurite that have no effect here. The server prints one line for each that explains why.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AzuriteArguments {
    #[arg(long, alias = "skipApiVersionCheck", hide = true)]
    pub(crate) skip_api_version_check: bool,
    #[arg(long, alias = "disableTelemetry", hide = true)]
    pub(crate) disable_telemetry: bool,
    #[arg(long, alias = "extentMemoryLimit", hide = true, allow_negative_numbers = true)]
    pub(crate) extent_memory_limit: Option<f64>,
}

impl AzuriteArguments {
    /// They come from the command line only.
    pub(crate) fn or(self, _: Self) -> Self {
        self
    }

    /// Returns one line for each flag that was given, or the reason why it is refused.
    pub(crate) fn explain(&self, is_in_memory: bool) -> Result<Vec<&'static str>, String> {
        // -1 is Azurite's default.
        let limit = self.extent_memory_limit.filter(|megabytes| *megabytes != -1.0);
        if let Some(megabytes) = limit
            && (megabytes.is_nan() || megabytes < 0.0)
        {
            return Err(format!(
                "--extentMemoryLimit {megabytes} is not a size: write a number of megabytes, or omit it"
            ));
        }
        if limit.is_some() && !is_in_memory {
            return Err(
                "--extentMemoryLimit limits data in memory: add --inMemoryPersistence, or remove the limit".to_owned()
            );
        }
        let explained = [
            (
                self.skip_api_version_check,
                "--skipApiVersionCheck has no effect: every well-formed x-ms-version is accepted",
            ),
            (
                variable("AZURITE_SKIP_API_VERSION_CHECK").is_some_and(|value| value == "true"),
                "AZURITE_SKIP_API_VERSION_CHECK has no effect: every well-formed x-ms-version is accepted",
            ),
            (self.disable_telemetry, "--disableTelemetry has no effect: there is no telemetry"),
            (
                limit.is_some(),
                "--extentMemoryLimit has no effect: data in memory has no limit of its own, limit the process or the container",
            ),
        ];
        Ok(explained.into_iter().filter_map(|(given, why)| given.then_some(why)).collect())
    }
}

/// Rejects Azurite's variable for a database, because data would not be where its user expects it.
pub(crate) fn check_variables() -> Result<(), String> {
    match variable("AZURITE_DB") {
        None => Ok(()),
        Some(_) => Err(
            "AZURITE_DB names a database for metadata, which Tablerock does not use: unset it; to keep all data in \
            PostgreSQL, set TABLEROCK_STORE"
                .to_owned(),
        ),
    }
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Arguments {
    /// Parses the command line, or prints why that is not possible and exits with code 2.
    pub(crate) fn parse_as(program: Program) -> Self {
        let mut command = command(program);
        let matches = command.get_matches_mut();
        Self::from_matches(program, &matches).unwrap_or_else(|error| error.format(&mut command).exit())
    }

    fn from_matches(program: Program, matches: &ArgMatches) -> Result<Self, clap::Error> {
        for service in Service::ALL.into_iter().filter(|service| !program.serves(*service)) {
            let name = service.name();
            let is_given = |id: &String| matches.value_source(id) == Some(ValueSource::CommandLine);
            if ids_of(service).iter().any(is_given) {
                let reason = format!(
                    "{} does not serve the {name} service: remove the options that begin with --{name}, or run azurite",
                    program.name()
                );
                return Err(clap::Error::raw(ErrorKind::UnknownArgument, reason));
            }
        }
        Self::from_arg_matches(matches)
    }
}

/// The settings of one service.
fn ids_of(service: Service) -> [String; 3] {
    ["host", "port", "keep_alive_timeout"].map(|setting| format!("{}_{setting}", service.name()))
}

/// The command line under the name of the program. Azurite's short flag of the version is -v.
fn command(program: Program) -> Command {
    let command = Arguments::command().bin_name(program.name());
    if !program.is_azurite() {
        return command;
    }
    let version = Arg::new("version").short('v').short_alias('V').long("version").action(ArgAction::Version);
    let mut command = command.disable_version_flag(true).arg(version.help("Print version"));
    for service in Service::ALL.into_iter().filter(|service| !program.serves(*service)) {
        for id in ids_of(service) {
            command = command.mut_arg(id, |argument| argument.hide(true));
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(program: Program, line: &str) -> Result<Arguments, clap::Error> {
        let words = std::iter::once(program.name()).chain(line.split_whitespace());
        Arguments::from_matches(program, &command(program).try_get_matches_from(words)?)
    }

    #[test]
    fn the_definitions_are_sound() {
        for program in
            Service::ALL.map(Program::AzuriteService).into_iter().chain([Program::Tablerock, Program::Azurite])
        {
            command(program).debug_assert();
        }
    }

    #[test]
    fn the_commands_of_one_service_have_no_settings_of_the_others() {
        let blob = Program::AzuriteService(Service::Blob);
        assert_eq!(parse(blob, "--blobHost 0.0.0.0 --blobPort 1").unwrap().serve.blob_port, Some(1));
        for line in ["--queuePort 1", "--blobPort 1 --tableHost ::1", "--tableKeepAliveTimeout 5"] {
            let error = parse(blob, line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains("azurite-blob does not serve the"), "{error}");
        }
        assert!(parse(Program::Azurite, "--queuePort 1 --blobPort 2").is_ok());
    }

    #[test]
    fn the_version_has_the_short_flag_of_azurite() {
        for (program, flag) in [(Program::Azurite, "-v"), (Program::Azurite, "--version"), (Program::Tablerock, "-V")] {
            assert_eq!(parse(program, flag).unwrap_err().kind(), ErrorKind::DisplayVersion, "{flag}");
        }
        assert_eq!(parse(Program::Tablerock, "-v").unwrap_err().kind(), ErrorKind::UnknownArgument);
    }

    #[test]
    fn the_memory_limit_is_checked_as_azurite_does() {
        let explain = |limit, in_memory| {
            AzuriteArguments { extent_memory_limit: Some(limit), ..Default::default() }.explain(in_memory)
        };
        assert_eq!(explain(-1.0, false), Ok(vec![]));
        assert_eq!(explain(64.5, true).unwrap().len(), 1);
        assert!(explain(64.0, false).unwrap_err().contains("--inMemoryPersistence"));
        assert!(explain(-2.0, true).is_err() && explain(f64::NAN, true).is_err());
    }
}
