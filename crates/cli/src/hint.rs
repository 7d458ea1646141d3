//! Remedies that name a flag, for errors of engines, which know nothing of flags.

use tablerock_kv::Error;
use tablerock_kv_local::LocationError;

/// Returns the error with a remedy if it is about the data directory.
pub(crate) fn with_remedy(error: &Error) -> String {
    let remedy = match error.source_as::<LocationError>() {
        None => return error.to_string(),
        Some(LocationError::NotWritable { .. }) => "check its permissions",
        Some(LocationError::InUse { .. }) => "stop it",
        Some(LocationError::Incomplete { .. }) => "restore that file",
        Some(LocationError::Absent { .. }) => {
            "mount or restore the folder (a start without --existing creates new data)"
        }
        Some(LocationError::PartMissing { part, .. }) => {
            &format!("mount or restore {part}, or move the directory away to begin without data")
        }
        Some(LocationError::Mixed { part, .. }) => &format!("restore {part} and the rest from one backup"),
        Some(LocationError::Changed { .. }) => {
            "restore it from a backup, or remove its file tablerock-clean-stop to start with what is left"
        }
        Some(LocationError::NewerFormat { reader, .. }) => &format!("use Tablerock {reader}"),
        Some(_) => "correct it",
    };
    format!("{error}; {remedy}, or choose another --location")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_in_use_comes_with_its_remedy() {
        let error = LocationError::InUse { location: "data".into(), pid: Some(7) }.into_error();
        let expected = "data is in use by another Tablerock (pid 7); stop it, or choose another --location";
        assert_eq!(with_remedy(&error), expected);
    }

    #[test]
    fn a_newer_format_names_the_version_that_reads_it() {
        let reader = "3.2.0 or later".to_owned();
        let newer = LocationError::NewerFormat { location: "data".into(), format: 7, format_max: 1, reader };
        let message = with_remedy(&newer.into_error());
        assert!(message.ends_with("; use Tablerock 3.2.0 or later, or choose another --location"), "{message}");
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        assert_eq!(with_remedy(&Error::corrupt("store is damaged")), "store is damaged");
    }
}
