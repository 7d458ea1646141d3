//! `sip`: the addresses from which a SAS may be used.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One address, or all from `first` to `last`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange {
    first: IpAddr,
    last: IpAddr,
}

impl IpRange {
    /// `None` unless both are of the same family and in order.
    pub fn new(first: IpAddr, last: IpAddr) -> Option<Self> {
        let (first, last) = (first.to_canonical(), last.to_canonical());
        (first.is_ipv4() == last.is_ipv4() && first <= last).then_some(Self { first, last })
    }

    /// Reads `168.1.5.60` or `168.1.5.60-168.1.5.70`; addresses of version 6 take the same forms.
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Self::new(first.parse().ok()?, last.parse().ok()?)
    }

    /// Whether an address is in the range. An IPv4 address that arrived over an IPv6 socket counts as
    /// an IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && (self.first..=self.last).contains(&address)
    }
}

impl From<Ipv4Addr> for IpRange {
    fn from(address: Ipv4Addr) -> Self {
        Self::from(IpAddr::V4(address))
    }
}

impl From<Ipv6Addr> for IpRange {
    fn from(address: Ipv6Addr) -> Self {
        Self::from(IpAddr::V6(address))
    }
}

impl From<IpAddr> for IpRange {
    fn from(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { first: address, last: address }
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { write!(f, "{}", self.first) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(range: &str, address: &str) -> bool {
        IpRange::parse(range).unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn a_range_contains_both_ends() {
        for (address, inside) in [
            ("168.1.5.59", false),
            ("168.1.5.60", true),
            ("168.1.5.65", true),
            ("168.1.5.70", true),
            ("168.1.5.71", false),
            ("168.1.50.65", false),
            ("::ffff:168.1.5.61", true),
            ("::1", false),
        ] {
            assert_eq!(contains("168.1.5.60-168.1.5.70", address), inside, "{address}");
        }
        assert!(contains("10.0.0.1", "10.0.0.1"));
        assert!(!contains("10.0.0.1", "10.0.0.2"));
        assert!(contains("fe80::1-fe80::ff", "fe80::20"));
        assert!(!contains("fe80::1-fe80::ff", "10.0.0.1"));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "-",
            "10.0.0",
            "10.0.0.1-",
            "10.0.0.2-10.0.0.1",
            "10.0.0.1-::1",
            "10.0.0.1-10.0.0.2-10.0.0.3",
            "10.0.0.0/8",
            " 10.0.0.1",
        ] {
            assert_eq!(IpRange::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_range_prints_as_it_is_signed() {
        for text in ["10.0.0.1", "168.1.5.60-168.1.5.70", "fe80::1"] {
            assert_eq!(IpRange::parse(text).unwrap().to_string(), text);
        }
    }
}
