//! The query parameters of every kind of SAS, as text.
//!
//! A signature covers the text that the client wrote, so the text is kept and read only after the signature has
//! been found good.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::constraints::write_time;
use super::{IpRange, SasError, SasProtocol};
use crate::signing::AccountKey;
use crate::{DateTime, ServiceVersion};

/// The characters that are escaped in a query.
const QUERY_ESCAPES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The length of the longest name.
const NAME_BYTES_MAX: usize = 5;

macro_rules! sas_parameters {
    ($($(#[$meta:meta])* $parameter:ident $name:literal,)*) => {
        /// A query parameter that belongs to a SAS.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SasParameter { $(#[doc = concat!("`", $name, "`.")] $(#[$meta])* $parameter),* }

        impl SasParameter {
            const ALL: &[Self] = &[$(Self::$parameter),*];

            /// The parameter as the query names it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$parameter => $name),* }
            }

            /// The parameter of a name, which has no case, like the names of all parameters.
            fn named(name: &str) -> Option<Self> {
                let mut lower = [0; NAME_BYTES_MAX];
                let lower = lower.get_mut(..name.len())?;
                lower.copy_from_slice(name.as_bytes());
                lower.make_ascii_lowercase();
                match std::str::from_utf8(lower).ok()? {
                    $($name => Some(Self::$parameter),)*
                    _ => None,
                }
            }
        }
    };
}

sas_parameters! {
    Version "sv",
    Services "ss",
    ResourceTypes "srt",
    TableName "tn",
    Permissions "sp",
    Start "st",
    Expiry "se",
    StartPartitionKey "spk",
    StartRowKey "srk",
    EndPartitionKey "epk",
    EndRowKey "erk",
    /// The id of a stored access policy.
    Identifier "si",
    Ip "sip",
    Protocol "spr",
    EncryptionScope "ses",
    /// The kind of resource that a blob's SAS is for.
    Resource "sr",
    DirectoryDepth "sdd",
    CacheControl "rscc",
    ContentDisposition "rscd",
    ContentEncoding "rsce",
    ContentLanguage "rscl",
    ContentType "rsct",
    /// Whose key signed a user delegation SAS.
    KeyObjectId "skoid",
    Signature "sig",
}

/// The values of a SAS's parameters, decoded from the URL and otherwise untouched.
#[derive(Clone, Default)]
pub struct SasParameters<'a> {
    values: [Option<Cow<'a, str>>; SasParameter::ALL.len()],
}

impl<'a> SasParameters<'a> {
    /// Picks the parameters of a SAS out of a decoded query. Without a signature there is no SAS.
    pub fn collect(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Option<Self>, SasError> {
        let mut parameters = Self::default();
        for (name, value) in pairs {
            let Some(parameter) = SasParameter::named(name) else { continue };
            if parameters.values[parameter as usize].replace(Cow::Borrowed(value)).is_some() {
                return Err(SasError::Duplicate(parameter));
            }
        }
        Ok(parameters.value(SasParameter::Signature).is_some().then_some(parameters))
    }

    /// Whether the parameters are those of an account SAS rather than of a service SAS.
    pub fn is_account_sas(&self) -> bool {
        self.value(SasParameter::Services).is_some() || self.value(SasParameter::ResourceTypes).is_some()
    }

    /// Rejects the parameters of an account SAS.
    pub(super) fn check_no_account_sas(&self) -> Result<(), SasError> {
        if self.is_account_sas() { Err(SasError::Ambiguous) } else { Ok(()) }
    }

    /// Rejects a token that names a user delegation key as its signer.
    pub(super) fn check_no_user_delegation(&self) -> Result<(), SasError> {
        if self.value(SasParameter::KeyObjectId).is_some() { Err(SasError::UserDelegation) } else { Ok(()) }
    }

    /// The value as given, which may be empty.
    pub fn value(&self, parameter: SasParameter) -> Option<&str> {
        self.values[parameter as usize].as_deref()
    }

    /// The text that is signed: an absent parameter and an empty one look the same there.
    pub fn text(&self, parameter: SasParameter) -> &str {
        self.value(parameter).unwrap_or_default()
    }

    /// The value, unless it is absent or empty. Since the signature does not distinguish these two, neither must
    /// any rule that grants something.
    pub fn given(&self, parameter: SasParameter) -> Option<&str> {
        self.value(parameter).filter(|value| !value.is_empty())
    }

    /// The value of a parameter that must be there.
    pub fn required(&self, parameter: SasParameter) -> Result<&str, SasError> {
        self.given(parameter).ok_or(SasError::Missing(parameter))
    }

    /// Reads a value that may be absent.
    pub(super) fn read<T>(
        &self,
        parameter: SasParameter,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, SasError> {
        self.given(parameter).map(|text| read(text).ok_or(SasError::Malformed(parameter))).transpose()
    }

    /// The version that defines the string-to-sign.
    pub(super) fn version(&self, oldest: ServiceVersion) -> Result<ServiceVersion, SasError> {
        let malformed = SasError::Malformed(SasParameter::Version);
        let version = self.required(SasParameter::Version)?.parse().map_err(|_| malformed)?;
        if version < oldest { Err(SasError::VersionTooOld) } else { Ok(version) }
    }

    pub(super) fn set(&mut self, parameter: SasParameter, value: impl Into<Cow<'a, str>>) {
        self.values[parameter as usize] = Some(value.into());
    }

    /// Sets the parameters that have a value.
    pub(super) fn with<const N: usize>(mut self, values: [(SasParameter, Option<String>); N]) -> Self {
        for (parameter, value) in values {
            if let Some(value) = value {
                self.set(parameter, value);
            }
        }
        self
    }

    /// Sets the fields that the terms of every kind of SAS have.
    pub(super) fn with_origin(
        self,
        version: ServiceVersion,
        start: Option<DateTime>,
        source: Option<IpRange>,
        protocol: Option<SasProtocol>,
    ) -> Self {
        self.with([
            (SasParameter::Version, Some(version.to_string())),
            (SasParameter::Start, start.map(write_time)),
            (SasParameter::Ip, source.map(|source| source.to_string())),
            (SasParameter::Protocol, protocol.map(|protocol| protocol.as_str().to_owned())),
        ])
    }

    /// Appends the texts of parameters to a string-to-sign, a line for each.
    pub(super) fn append_lines(&self, parameters: &[SasParameter], signed: &mut String) {
        for &parameter in parameters {
            signed.push_str(self.text(parameter));
            signed.push('\n');
        }
    }

    /// Whether one of the keys has signed the string. A `+` that a client forgot to encode has become a space,
    /// which Base64 does not have, so its meaning is not in doubt.
    pub(super) fn check_signature(&self, string_to_sign: &str, keys: &[AccountKey]) -> Result<(), SasError> {
        let signature = self.required(SasParameter::Signature)?.replace(' ', "+");
        let signed = keys.iter().any(|key| key.verify(string_to_sign, &signature));
        if signed { Ok(()) } else { Err(SasError::SignatureMismatch) }
    }

    /// The parameters as a query, without the question mark.
    pub fn to_query(&self) -> String {
        let mut query = String::new();
        for &parameter in SasParameter::ALL {
            let Some(value) = self.value(parameter) else { continue };
            if !query.is_empty() {
                query.push('&');
            }
            query.push_str(parameter.name());
            query.push('=');
            query.extend(utf8_percent_encode(value, QUERY_ESCAPES));
        }
        query
    }
}

/// Shows everything but the signature, which is a credential.
impl fmt::Debug for SasParameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = SasParameter::ALL.iter().filter(|parameter| **parameter != SasParameter::Signature);
        let pairs = shown.filter_map(|parameter| Some((parameter.name(), self.value(*parameter)?)));
        f.debug_map().entries(pairs).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_its_name_and_its_place() {
        for (place, &parameter) in SasParameter::ALL.iter().enumerate() {
            assert_eq!(parameter as usize, place);
            assert_eq!(SasParameter::named(parameter.name()), Some(parameter));
        }
        assert_eq!(SasParameter::named("SkOid"), Some(SasParameter::KeyObjectId));
        assert_eq!(SasParameter::named("$filter"), None);
    }

    #[test]
    fn a_query_without_a_signature_has_no_sas() {
        assert!(SasParameters::collect([("sv", "2019-02-02"), ("comp", "acl")]).unwrap().is_none());
    }

    #[test]
    fn a_parameter_given_twice_is_refused_even_with_the_same_value() {
        let collected = SasParameters::collect([("sig", "x"), ("sp", "r"), ("sp", "r")]);
        assert_eq!(collected.unwrap_err(), SasError::Duplicate(SasParameter::Permissions));
        let in_two_cases = SasParameters::collect([("sig", "x"), ("sp", "r"), ("SP", "w")]);
        assert_eq!(in_two_cases.unwrap_err(), SasError::Duplicate(SasParameter::Permissions));
        assert!(SasParameters::collect([("sig", "x"), ("a", "1"), ("a", "2")]).unwrap().is_some());
    }

    #[test]
    fn a_query_escapes_what_is_not_plain() {
        let parameters = SasParameters::collect([("sig", "a+b/c="), ("sp", "r"), ("spk", "é &~")]).unwrap().unwrap();
        assert_eq!(parameters.to_query(), "sp=r&spk=%C3%A9%20%26~&sig=a%2Bb%2Fc%3D");
        assert_eq!(format!("{parameters:?}"), r#"{"sp": "r", "spk": "é &~"}"#);
    }
}
