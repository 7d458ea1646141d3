//! `x-ms-version` and `sv`: the version of the protocol that a client uses.
//!
//! Any well-formed date is accepted. A version between two that we know behaves as the older of them, and one
//! that is newer than all of them as the newest, so that an upgraded SDK is never rejected.

use std::fmt;
use std::str::FromStr;

/// A version of the protocol, named by a date. Later versions compare as greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceVersion {
    year: u16,
    month: u8,
    day: u8,
}

/// The text is not a date of the form `yyyy-mm-dd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceVersionSyntax;

impl ServiceVersion {
    /// The first version with `$batch`; property names lose the hyphen.
    pub const BATCH: Self = Self::dated(2009, 4, 14);
    /// Shared Key in addition to Shared Key Lite; responses have `x-ms-version`.
    pub const SHARED_KEY: Self = Self::dated(2009, 9, 19);
    /// Insert-or-replace, insert-or-merge and `$select`; `DataServiceVersion` 2.0.
    pub const UPSERT: Self = Self::dated(2011, 8, 18);
    /// SAS and stored access policies for tables.
    pub const TABLE_SAS: Self = Self::dated(2012, 2, 12);
    /// SAS and stored access policies for queues and containers.
    pub const SERVICE_SAS: Self = Self::TABLE_SAS;
    /// JSON (`DataServiceVersion` 3.0) and `Prefer`.
    pub const JSON: Self = Self::dated(2013, 8, 15);
    /// CORS, minute metrics and service stats; Set Service Properties may leave sections out.
    pub const CORS: Self = Self::JSON;
    /// The `api-version` parameter next to a SAS.
    pub const API_VERSION: Self = Self::dated(2014, 2, 14);
    /// A blob's SAS signs the response headers that it replaces.
    pub const SAS_RESPONSE_HEADERS: Self = Self::JSON;
    /// Shared Key signs a length of zero as an empty line.
    pub const ZERO_LENGTH_UNSIGNED: Self = Self::dated(2015, 2, 21);
    /// The resource that a service SAS signs begins with the service's name.
    pub const SAS_SERVICE_PREFIX: Self = Self::dated(2015, 2, 21);
    /// Account SAS; `sip` and `spr` in every SAS.
    pub const ACCOUNT_SAS: Self = Self::dated(2015, 4, 5);
    /// Atom is gone.
    pub const JSON_ONLY: Self = Self::dated(2015, 12, 11);
    /// Headers with an empty value are signed by Shared Key, where they were left out before.
    pub const EMPTY_HEADERS_SIGNED: Self = Self::dated(2016, 5, 31);
    /// Put Message returns the message.
    pub const PUT_MESSAGE_BODY: Self = Self::EMPTY_HEADERS_SIGNED;
    /// Logs name the error of a request that failed.
    pub const ERROR_CODES_LOGGED: Self = Self::dated(2017, 4, 17);
    /// Messages may live longer than a week, and for ever.
    pub const ENDLESS_MESSAGES: Self = Self::dated(2017, 7, 29);
    /// SAS of a blob's snapshot; the kind of resource is part of what a blob's SAS signs.
    pub const SAS_SNAPSHOT: Self = Self::dated(2018, 11, 9);
    /// SAS of a directory.
    pub const SAS_DIRECTORY: Self = Self::dated(2020, 2, 10);
    /// Blocks of up to 4000 MiB, and blobs of up to 5000 MiB in one request.
    pub const LARGE_BLOCKS: Self = Self::dated(2019, 12, 12);
    /// Queues and blobs ask a client without credentials for a token.
    pub const CHALLENGE: Self = Self::LARGE_BLOCKS;
    /// Find Blobs by Tags returns a set of tags for each blob.
    pub const FOUND_TAG_SETS: Self = Self::dated(2020, 4, 8);
    /// Get Page Ranges returns its list in pages.
    pub const PAGED_PAGE_RANGES: Self = Self::dated(2020, 10, 2);
    /// Bearer tokens for tables.
    pub const BEARER_TOKEN: Self = Self::dated(2020, 12, 6);
    /// `ses` is part of what an account SAS signs.
    pub const SAS_ENCRYPTION_SCOPE: Self = Self::BEARER_TOKEN;
    /// Appended blocks of up to 100 MiB.
    pub const LARGE_APPENDS: Self = Self::dated(2022, 11, 2);
    /// Bearer tokens for stored access policies.
    pub const TOKEN_POLICIES: Self = Self::dated(2025, 7, 5);
    /// The permission to create a blob is good for creating it of blocks.
    pub const CREATE_OF_BLOCKS: Self = Self::dated(2026, 4, 6);
    /// The tier `Smart`.
    pub const SMART_TIER: Self = Self::dated(2026, 4, 6);
    /// Responses to writes have a CRC64 next to an MD5, and those to Get Blob the tier.
    pub const BOTH_CHECKSUMS: Self = Self::dated(2026, 10, 6);
    /// The newest version whose behaviour we know.
    pub const LATEST: Self = Self::BOTH_CHECKSUMS;

    const fn dated(year: u16, month: u8, day: u8) -> Self {
        Self { year, month, day }
    }

    /// The version as headers carry it: ten characters of ASCII.
    pub fn to_ascii(self) -> [u8; 10] {
        let digit = |number: u16| b'0' + (number % 10) as u8;
        let (year, month, day) = (self.year, self.month.into(), self.day.into());
        [
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]
    }
}

impl FromStr for ServiceVersion {
    type Err = ServiceVersionSyntax;

    fn from_str(text: &str) -> Result<Self, ServiceVersionSyntax> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return Err(ServiceVersionSyntax) };
        let year = number(&[y1, y2, y3, y4])?;
        let month = number(&[m1, m2])? as u8;
        let day = number(&[d1, d2])? as u8;
        let month_days = match month {
            2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return Err(ServiceVersionSyntax),
        };
        if year == 0 || day == 0 || day > month_days {
            return Err(ServiceVersionSyntax);
        }
        Ok(Self::dated(year, month, day))
    }
}

fn number(digits: &[u8]) -> Result<u16, ServiceVersionSyntax> {
    digits.iter().try_fold(0, |sum, digit| match digit {
        b'0'..=b'9' => Ok(sum * 10 + u16::from(digit - b'0')),
        _ => Err(ServiceVersionSyntax),
    })
}

impl fmt::Display for ServiceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_ascii()).expect("digits and hyphens are text"))
    }
}

impl fmt::Display for ServiceVersionSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version is a date of the form yyyy-mm-dd")
    }
}

impl std::error::Error for ServiceVersionSyntax {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_date_is_a_version_and_prints_as_it_was_written() {
        for text in ["0001-01-01", "2009-04-14", "2019-02-02", "2024-02-29", "2026-06-06", "9999-12-31"] {
            assert_eq!(text.parse::<ServiceVersion>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_date_is_no_version() {
        for text in [
            "",
            "2019",
            "2019-2-2",
            "2019-02-30",
            "2023-02-29",
            "2019-13-01",
            "2019-00-01",
            "2019-01-00",
            "0000-01-01",
            "2019-02-02 ",
            "2019/02/02",
            "+019-02-02",
            "２019-02-02",
        ] {
            assert_eq!(text.parse::<ServiceVersion>(), Err(ServiceVersionSyntax), "{text:?}");
        }
    }

    #[test]
    fn versions_are_ordered_by_date() {
        let ordered = [
            ServiceVersion::BATCH,
            ServiceVersion::SHARED_KEY,
            ServiceVersion::UPSERT,
            ServiceVersion::TABLE_SAS,
            ServiceVersion::JSON,
            ServiceVersion::API_VERSION,
            ServiceVersion::SAS_SERVICE_PREFIX,
            ServiceVersion::ACCOUNT_SAS,
            ServiceVersion::JSON_ONLY,
            ServiceVersion::EMPTY_HEADERS_SIGNED,
            ServiceVersion::ENDLESS_MESSAGES,
            ServiceVersion::SAS_SNAPSHOT,
            ServiceVersion::CHALLENGE,
            ServiceVersion::BEARER_TOKEN,
            ServiceVersion::TOKEN_POLICIES,
            ServiceVersion::LATEST,
        ];
        assert!(ordered.is_sorted());
        assert!("2030-01-01".parse::<ServiceVersion>().unwrap() > ServiceVersion::LATEST);
    }
}
