//! The limits of every kind of SAS: time, protocol, address. Also the fields that a stored access policy
//! can give in the token's place.

use std::net::IpAddr;

use super::{IpRange, SasError, SasParameter, SasParameters, TimeFrame};
use crate::DateTime;
use crate::xml::StoredAccessPolicies;

const TICKS_PER_SECOND: u64 = 10_000_000;

/// `spr`: the protocols over which a SAS may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SasProtocol {
    /// HTTPS only.
    HttpsOnly,
    /// HTTPS and HTTP.
    #[default]
    HttpsAndHttp,
}

impl SasProtocol {
    /// Returns the value of `spr`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HttpsOnly => "https",
            Self::HttpsAndHttp => "https,http",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "https" => Some(Self::HttpsOnly),
            "https,http" | "http,https" => Some(Self::HttpsAndHttp),
            _ => None,
        }
    }
}

/// When, from where and how a SAS may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SasConstraints {
    /// The time from which the token is valid.
    pub start: Option<DateTime>,
    /// The time from which the token is no longer valid.
    pub expiry: DateTime,
    /// The addresses that may use the token.
    pub source: Option<IpRange>,
    /// The protocols that the token may be used over.
    pub protocol: SasProtocol,
}

/// The circumstances of a request that comes with a SAS.
#[derive(Debug, Clone, Copy)]
pub struct RequestOrigin {
    /// The current time.
    pub now: DateTime,
    /// The address of the client.
    pub source: IpAddr,
    /// Whether the request came over HTTPS.
    pub is_https: bool,
}

impl SasConstraints {
    /// Checks time, protocol and address, in this order.
    pub fn check(&self, origin: &RequestOrigin) -> Result<(), SasError> {
        if self.start.is_some_and(|start| origin.now < start) || origin.now >= self.expiry {
            let frame = TimeFrame { start: self.start, expiry: self.expiry, now: origin.now };
            return Err(SasError::OutsideTimeFrame(frame));
        }
        if self.protocol == SasProtocol::HttpsOnly && !origin.is_https {
            return Err(SasError::ProtocolMismatch);
        }
        if self.source.is_some_and(|range| !range.contains(origin.source)) {
            return Err(SasError::SourceIpMismatch(origin.source));
        }
        Ok(())
    }

    pub(super) fn read(
        parameters: &SasParameters<'_>,
        start: Option<DateTime>,
        expiry: DateTime,
    ) -> Result<Self, SasError> {
        Ok(Self {
            start,
            expiry,
            source: parameters.read(SasParameter::Ip, IpRange::parse)?,
            protocol: parameters.read(SasParameter::Protocol, SasProtocol::parse)?.unwrap_or_default(),
        })
    }
}

/// The three fields that a service SAS takes from its own parameters or from the stored policy it names.
pub(super) struct MergedFields<'a> {
    pub(super) start: Option<DateTime>,
    pub(super) expiry: DateTime,
    pub(super) permissions: &'a str,
}

impl<'a> MergedFields<'a> {
    /// Takes each field from where it is given; a field that is given in both is an error, even if the values are equal.
    pub(super) fn read(
        parameters: &'a SasParameters<'_>,
        policies: &'a StoredAccessPolicies,
    ) -> Result<Self, SasError> {
        let policy = match parameters.given(SasParameter::Identifier) {
            Some(id) => Some(policies.find(id).ok_or(SasError::PolicyNotFound)?),
            None => None,
        };
        let start = either(
            SasParameter::Start,
            parameters.read(SasParameter::Start, read_time)?,
            policy.and_then(|policy| policy.start),
        )?;
        let expiry = either(
            SasParameter::Expiry,
            parameters.read(SasParameter::Expiry, read_time)?,
            policy.and_then(|policy| policy.expiry),
        )?;
        let permissions = either(
            SasParameter::Permissions,
            parameters.given(SasParameter::Permissions),
            policy.and_then(|policy| policy.permissions.as_deref()),
        )?;
        Ok(Self {
            start,
            expiry: expiry.ok_or(SasError::Missing(SasParameter::Expiry))?,
            permissions: permissions.ok_or(SasError::Missing(SasParameter::Permissions))?,
        })
    }
}

fn either<T>(parameter: SasParameter, in_token: Option<T>, in_policy: Option<T>) -> Result<Option<T>, SasError> {
    match (in_token, in_policy) {
        (Some(_), Some(_)) => Err(SasError::InTokenAndPolicy(parameter)),
        (in_token, in_policy) => Ok(in_token.or(in_policy)),
    }
}

pub(super) fn read_time(text: &str) -> Option<DateTime> {
    DateTime::parse(text).ok()
}

/// A time as a token carries it: the service takes no fraction or one of seven digits.
pub(super) fn write_time(time: DateTime) -> String {
    let is_whole_second = time.ticks().is_multiple_of(TICKS_PER_SECOND);
    if is_whole_second { time.to_string() } else { time.to_seven_digits() }
}
