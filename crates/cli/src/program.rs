//! The name that the program is called by. Through a link or a copy with a name of Azurite it takes Azurite's place: its lines
//! on stdout, and for the commands of a single service only that service.

use std::ffi::OsStr;
use std::path::Path;

use tablerock_protocol::Service;

/// The program that the user called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Tablerock,
    /// `azurite`, with all services.
    Azurite,
    /// `azurite-blob`, `azurite-queue` or `azurite-table`.
    AzuriteService(Service),
}

impl Program {
    /// The program of this process.
    pub(crate) fn current() -> Self {
        Self::called(&std::env::args_os().next().unwrap_or_default())
    }

    /// The program of a path. Names of Windows end in `.exe`.
    fn called(path: &OsStr) -> Self {
        let name = Path::new(path).file_name().and_then(OsStr::to_str).unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let services = Service::ALL.map(Self::AzuriteService);
        services.into_iter().chain([Self::Azurite]).find(|program| program.name() == name).unwrap_or(Self::Tablerock)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tablerock => "tablerock",
            Self::Azurite => "azurite",
            Self::AzuriteService(Service::Blob) => "azurite-blob",
            Self::AzuriteService(Service::Queue) => "azurite-queue",
            Self::AzuriteService(Service::Table) => "azurite-table",
        }
    }

    pub(crate) fn is_azurite(self) -> bool {
        self != Self::Tablerock
    }

    pub(crate) fn serves(self, service: Service) -> bool {
        match self {
            Self::Tablerock | Self::Azurite => true,
            Self::AzuriteService(only) => service == only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_azurite_are_recognized() {
        for (path, program) in [
            ("azurite", Program::Azurite),
            ("/usr/bin/azurite-table", Program::AzuriteService(Service::Table)),
            ("./azurite-blob", Program::AzuriteService(Service::Blob)),
            ("azurite-queue.exe", Program::AzuriteService(Service::Queue)),
            ("tablerock", Program::Tablerock),
            ("/azurite/tablerock", Program::Tablerock),
            ("azurite-other", Program::Tablerock),
            ("azurite.old", Program::Tablerock),
            ("", Program::Tablerock),
        ] {
            assert_eq!(Program::called(OsStr::new(path)), program, "{path}");
        }
    }
}
