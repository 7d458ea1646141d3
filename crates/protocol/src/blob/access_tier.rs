//! The tiers of block blobs.

use crate::Keyword;

/// A tier, as `x-ms-access-tier` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum AccessTier {
    /// The default.
    Hot,
    /// For content that is seldom read.
    Cool,
    /// For content that is hardly ever read.
    Cold,
    /// Offline: the content can be read after it has been rehydrated.
    Archive,
    /// Of premium accounts.
    Premium,
    /// Hot, Cool or Cold, as the service sees fit.
    Smart,
}

impl AccessTier {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, tier)| *tier == self).map_or("", |(name, _)| name)
    }

    /// Whether a name is that of a tier of page blobs, which only premium accounts have.
    pub fn is_of_premium_pages(name: &str) -> bool {
        PREMIUM_PAGE_TIERS.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

const PREMIUM_PAGE_TIERS: [&str; 11] = ["P4", "P6", "P10", "P15", "P20", "P30", "P40", "P50", "P60", "P70", "P80"];

impl Keyword for AccessTier {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("Hot", Self::Hot),
        ("Cool", Self::Cool),
        ("Cold", Self::Cold),
        ("Archive", Self::Archive),
        ("Premium", Self::Premium),
        ("Smart", Self::Smart),
    ];
}

/// How urgently a blob leaves the archive, as `x-ms-rehydrate-priority` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum RehydratePriority {
    /// The default.
    #[default]
    Standard,
    /// Sooner.
    High,
}

impl RehydratePriority {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "Standard",
            Self::High => "High",
        }
    }
}

impl Keyword for RehydratePriority {
    const WORDS: &'static [(&'static str, Self)] = &[("Standard", Self::Standard), ("High", Self::High)];
}
