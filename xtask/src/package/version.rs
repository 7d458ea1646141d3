//! The facts of a version that its packages share: number, commit and date.

use std::fs;
use std::process::Command;

use serde::Deserialize;

use crate::Result;
use crate::workspace::Workspace;

/// A version as it is packaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// The version of all crates.
    pub(crate) number: String,
    /// The commit, if the sources are a git repository.
    pub(crate) commit: Option<String>,
    /// The date of the commit in seconds since 1970, which all archives carry.
    pub(crate) time: u64,
}

#[derive(Deserialize)]
struct Manifest {
    workspace: WorkspaceTable,
}

#[derive(Deserialize)]
struct WorkspaceTable {
    package: PackageTable,
}

#[derive(Deserialize)]
struct PackageTable {
    version: String,
}

impl Version {
    pub(crate) fn of(workspace: &Workspace) -> Result<Self> {
        let path = workspace.root.join("Cargo.toml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let manifest: Manifest = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let PackageTable { version: number } = manifest.workspace.package;
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(text) => text.parse().map_err(|_| format!("SOURCE_DATE_EPOCH={text} is not a number of seconds"))?,
            Err(_) => git(workspace, &["log", "-1", "--format=%ct"])
                .and_then(|text| text.parse().ok())
                .ok_or("the sources are not a git repository: set SOURCE_DATE_EPOCH to the date of the version")?,
        };
        Ok(Self { number, commit: git(workspace, &["rev-parse", "HEAD"]), time })
    }

    /// The date of the commit, as `2026-11-18T12:00:00Z`.
    pub(crate) fn timestamp(&self) -> String {
        let (days, seconds) = (self.time / 86_400, self.time % 86_400);
        let (year, month, day) = civil_date(days);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn git(workspace: &Workspace, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(&workspace.root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned())
}

/// The Gregorian date of a day since 1970-01-01. Years are counted from March, so that a leap day is their last.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_BEFORE_1970: u64 = 719_468;
    let days = days + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_a_date() {
        let at = |time| Version { number: String::new(), commit: None, time }.timestamp();
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_795_003_200), "2026-11-18T12:00:00Z");
    }
}
