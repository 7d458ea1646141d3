//! Targets that are known to be missed, and the decisions whose profiles say why. The report points there, and the run does
//! not fail for them.

use crate::contest::rows::Row;
use crate::results::Verdict;

const WHERE_TIME_GOES: &str = "decisions/0014-larger-groups-and-an-allocator.md";

/// The document that explains why a target is missed, as the report links to it.
pub fn why_missed(verdict: &Verdict) -> Option<&'static str> {
    match (verdict.row, verdict.target.as_str()) {
        (Row::PointRead, "at least 25 × Azurite" | "at least 50 % of bare hyper")
        | (Row::InsertMany, "at least 12 × Azurite" | "at least 50 % of fjall alone")
        | (Row::InsertOne, "at least 20,000 entities/s")
        | (Row::Group, "at least 30 × Azurite")
        | (Row::BigRead, "10,000,000 entities against 10,000: at most 1.5 × the time") => Some(WHERE_TIME_GOES),
        _ => None,
    }
}
