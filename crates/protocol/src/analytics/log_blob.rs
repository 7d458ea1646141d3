//! Names of the blobs in `$logs`: `table/2026/07/31/1800/000001.log`.

use crate::{DateTime, Service};

/// Returns the prefix of the names of all logs of a service and an hour. Minutes are always zero.
pub fn log_blob_prefix(service: Service, hour: DateTime) -> String {
    let text = hour.to_seven_digits();
    let (date, time) = text.split_once('T').expect("a date has a time");
    format!("{}/{}/{}00/", service.name(), date.replace('-', "/"), &time[..2])
}

/// The name of one of them, counted from zero.
pub fn log_blob_name(service: Service, hour: DateTime, number: u32) -> String {
    format!("{}{number:06}.log", log_blob_prefix(service, hour))
}

/// Parses the hour and the number of a name; `None` if it is not the name of a log.
pub fn hour_of_log_blob(name: &str) -> Option<(DateTime, u32)> {
    let mut pieces = name.split('/').skip(1);
    let mut piece = || pieces.next();
    let (year, month, day, time) = (piece()?, piece()?, piece()?, piece()?);
    let hour = DateTime::parse(&format!("{year}-{month}-{day}T{}:00", time.strip_suffix("00")?)).ok()?;
    Some((hour, piece()?.strip_suffix(".log")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_service_hour_and_number() {
        let hour = DateTime::parse("2026-07-31T18:00").unwrap();
        let name = log_blob_name(Service::Table, hour, 1);
        assert_eq!(name, "table/2026/07/31/1800/000001.log");
        assert_eq!(hour_of_log_blob(&name), Some((hour, 1)));
        for other in ["", "table", "table/2026/07/31/1800/", "table/2026/13/31/1800/000001.log", "a/b/c/d/e/f"] {
            assert_eq!(hour_of_log_blob(other), None, "{other}");
        }
    }
}
