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
}

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
