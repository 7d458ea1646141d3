//! The tier of a blob. All content is stored in the same way; what is archived is merely not read.
//!
//! Rehydration needs no timer: its beginning is stored, and a reader of the blob derives the state from the clock.

use tablerock_kv::TICKS_PER_SECOND;
use tablerock_protocol::blob::{AccessTier, RehydratePriority};
use tablerock_protocol::{DateTime, ErrorCode, Keyword, ServiceError};

/// How long a rehydration takes. On Azure it takes hours; here it is long enough to be seen and short enough to be tried.
const STANDARD_SECONDS: u64 = 60;
const HIGH_SECONDS: u64 = 15;

/// The tier that a client set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    pub name: String,
    pub changed: DateTime,
    /// Where it is going from Archive.
    rehydration: Option<Rehydration>,
}

/// A rehydration that has begun. Whether it is over is a matter of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rehydration {
    to: AccessTier,
    priority: RehydratePriority,
    began: DateTime,
}

/// The tier of a blob at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierNow<'a> {
    pub name: &'a str,
    pub changed: DateTime,
    /// The tier that the blob is on its way to, and how urgently.
    pub pending: Option<(AccessTier, RehydratePriority)>,
}

/// The outcome of Set Blob Tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierChange {
    Done,
    /// The blob is being rehydrated.
    Pending,
}

impl Tier {
    pub(super) fn new(name: String, changed: DateTime) -> Self {
        Self { name, changed, rehydration: None }
    }

    /// The tier of a blob that is on its way from Archive to another.
    pub(super) fn rehydrating(to: AccessTier, priority: Option<RehydratePriority>, now: DateTime) -> Self {
        let rehydration = Rehydration { to, priority: priority.unwrap_or_default(), began: now };
        Self { rehydration: Some(rehydration), ..Self::new(AccessTier::Archive.name().to_owned(), now) }
    }

    /// The tier at some time.
    pub fn at(&self, now: u64) -> TierNow<'_> {
        match self.rehydration {
            None => TierNow { name: &self.name, changed: self.changed, pending: None },
            Some(rehydration) if now < rehydration.ends() => {
                let pending = Some((rehydration.to, rehydration.priority));
                TierNow { name: &self.name, changed: self.changed, pending }
            }
            Some(rehydration) => {
                let changed = DateTime::from_ticks(rehydration.ends());
                TierNow { name: rehydration.to.name(), changed, pending: None }
            }
        }
    }

    /// The text of the record: a name, and what there is to know about a rehydration.
    pub(super) fn stored(&self) -> String {
        match self.rehydration {
            None => self.name.clone(),
            Some(Rehydration { to, priority, began }) => {
                format!("{} {} {} {}", self.name, to.name(), priority.name(), began.ticks())
            }
        }
    }

    /// Reads the text of a record; `None` for one that cannot be read.
    pub(super) fn from_stored(text: String, changed: DateTime) -> Option<Self> {
        let Some((name, rest)) = text.split_once(' ') else { return Some(Self::new(text, changed)) };
        let (to, rest) = rest.split_once(' ')?;
        let (priority, began) = rest.split_once(' ')?;
        let (to, priority) = (AccessTier::parse_keyword(to)?, RehydratePriority::parse_keyword(priority)?);
        let began = began.parse().ok().filter(|began| *began < DateTime::MAX.ticks() - LONGEST)?;
        let rehydration = Some(Rehydration { to, priority, began: DateTime::from_ticks(began) });
        Some(Self { name: name.to_owned(), changed, rehydration })
    }
}

const LONGEST: u64 = STANDARD_SECONDS * TICKS_PER_SECOND;

impl Rehydration {
    fn ends(&self) -> u64 {
        let seconds = match self.priority {
            RehydratePriority::Standard => STANDARD_SECONDS,
            RehydratePriority::High => HIGH_SECONDS,
        };
        self.began.ticks() + seconds * TICKS_PER_SECOND
    }
}

impl TierNow<'_> {
    pub(super) fn is_archive(&self) -> bool {
        self.name == AccessTier::Archive.name()
    }
}

/// Sets a tier, or begins to rehydrate.
pub(super) fn set(
    tier: &mut Option<Tier>,
    to: AccessTier,
    priority: Option<RehydratePriority>,
    now: DateTime,
) -> Result<TierChange, ServiceError> {
    let current = tier.as_ref().map(|tier| tier.at(now.ticks()));
    match current {
        Some(TierNow { pending: Some((target, before)), .. }) => {
            if target != to {
                return Err(ErrorCode::BlobBeingRehydrated.into());
            }
            // A rehydration can be made more urgent, never less.
            if before == RehydratePriority::Standard && priority == Some(RehydratePriority::High) {
                let changed = tier.as_ref().map_or(now, |tier| tier.changed);
                *tier = Some(Tier { changed, ..Tier::rehydrating(to, priority, now) });
            }
            Ok(TierChange::Pending)
        }
        Some(current) if current.is_archive() && to != AccessTier::Archive => {
            let changed = current.changed;
            *tier = Some(Tier { changed, ..Tier::rehydrating(to, priority, now) });
            Ok(TierChange::Pending)
        }
        Some(current) if current.is_archive() => Ok(TierChange::Done),
        _ => {
            *tier = Some(Tier::new(to.name().to_owned(), now));
            Ok(TierChange::Done)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(noon: DateTime, seconds: u64) -> u64 {
        noon.ticks() + seconds * TICKS_PER_SECOND
    }

    #[test]
    fn a_rehydration_ends_by_the_clock() {
        let noon = DateTime::from_unix_seconds(1_000_000_000);
        let mut tier = None;
        assert_eq!(set(&mut tier, AccessTier::Archive, None, noon), Ok(TierChange::Done));
        assert_eq!(set(&mut tier, AccessTier::Cool, None, noon), Ok(TierChange::Pending));
        let pending = Some((AccessTier::Cool, RehydratePriority::Standard));
        assert_eq!(tier.as_ref().unwrap().at(later(noon, 59)), TierNow { name: "Archive", changed: noon, pending });
        let code = |outcome: Result<TierChange, ServiceError>| outcome.unwrap_err().code;
        assert_eq!(code(set(&mut tier.clone(), AccessTier::Hot, None, noon)), ErrorCode::BlobBeingRehydrated);
        assert_eq!(set(&mut tier, AccessTier::Cool, Some(RehydratePriority::High), noon), Ok(TierChange::Pending));
        let done = tier.as_ref().unwrap().at(later(noon, 15));
        assert_eq!((done.name, done.changed.ticks(), done.pending), ("Cool", later(noon, 15), None));
        let after = DateTime::from_ticks(later(noon, 16));
        assert_eq!(set(&mut tier, AccessTier::Hot, None, after), Ok(TierChange::Done));
    }

    #[test]
    fn tiers_come_back_from_their_records() {
        let noon = DateTime::from_unix_seconds(1_000_000_000);
        let plain = Tier::new("Cold".to_owned(), noon);
        for tier in [plain, Tier::rehydrating(AccessTier::Hot, Some(RehydratePriority::High), noon)] {
            assert_eq!(Tier::from_stored(tier.stored(), noon), Some(tier));
        }
        assert_eq!(Tier::from_stored("Archive Hot".to_owned(), noon), None);
        assert_eq!(Tier::from_stored(format!("Archive Hot High {}", u64::MAX), noon), None);
    }
}
