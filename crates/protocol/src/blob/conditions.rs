//! Conditional headers: their meaning, and the responses when they do not hold.
//!
//! Reads and writes follow different rules. A read takes all headers together: it fails with 412 if `If-Match` or
//! `If-Unmodified-Since` does not hold, and with 304 if neither `If-None-Match` nor `If-Modified-Since` does. A write takes
//! one header, or one of two pairs of which the ETag decides.

use super::numbers::parse_hexadecimal;
use crate::{DateTime, ErrorCode, ServiceError};

/// The ETags of an `If-Match` or `If-None-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EtagList {
    /// `*`.
    Any,
    /// The ticks of each tag. A tag that this server never issued is zero, which no version has.
    Tags(Vec<u64>),
}

impl EtagList {
    /// Reads a header. Clients send tags with or without quotes, and some with the mark of weak ones.
    pub fn parse(header: &str) -> Result<Self, ServiceError> {
        if header.trim() == "*" {
            return Ok(Self::Any);
        }
        let tags: Vec<u64> = header.split(',').map(parse_tag).collect();
        if header.trim().is_empty() { Err(ErrorCode::InvalidHeaderValue.into()) } else { Ok(Self::Tags(tags)) }
    }

    fn matches(&self, etag: DateTime) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.contains(&etag.ticks()),
        }
    }
}

fn parse_tag(tag: &str) -> u64 {
    let tag = tag.trim();
    let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
    tag.strip_prefix("0x").and_then(parse_hexadecimal).unwrap_or(0)
}

/// The conditional headers of one request, for the blob or container itself or for the source of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// `If-Match`.
    pub if_match: Option<EtagList>,
    /// `If-None-Match`.
    pub if_none_match: Option<EtagList>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<DateTime>,
    /// `If-Unmodified-Since`.
    pub if_unmodified_since: Option<DateTime>,
}

impl Conditions {
    /// Returns whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a blob must not be there: `If-None-Match: *`.
    pub fn wants_absence(&self) -> bool {
        self.if_none_match == Some(EtagList::Any)
    }

    /// Judges a read of what was last changed then.
    pub fn check_read(&self, changed: DateTime) -> Result<(), ServiceError> {
        if self.wants_absence() {
            return Err(ErrorCode::UnsatisfiableCondition.into());
        }
        let is_match = self.if_match.as_ref().is_none_or(|tags| tags.matches(changed));
        let is_unmodified = self.if_unmodified_since.is_none_or(|date| seconds(changed) <= seconds(date));
        if !is_match || !is_unmodified {
            return Err(ErrorCode::ConditionNotMet.into());
        }
        let is_other = self.if_none_match.as_ref().map(|tags| !tags.matches(changed));
        let is_modified = self.if_modified_since.map(|date| seconds(changed) > seconds(date));
        match (is_other, is_modified) {
            (None, None) | (Some(true), _) | (_, Some(true)) => Ok(()),
            _ => Err(ServiceError::new(ErrorCode::ConditionNotMet).status(304)),
        }
    }

    /// Rejects the combinations of conditions that a write cannot have. Call it before anything is read.
    pub fn check_combination(&self) -> Result<(), ServiceError> {
        let given = (
            self.if_match.is_some(),
            self.if_none_match.is_some(),
            self.if_modified_since.is_some(),
            self.if_unmodified_since.is_some(),
        );
        let is_known = match given {
            (true, false, false, _) | (false, true, _, false) => true,
            (false, false, modified, unmodified) => !(modified && unmodified),
            _ => false,
        };
        let is_single = |tags: &Option<EtagList>| !matches!(tags, Some(EtagList::Tags(tags)) if tags.len() > 1);
        if is_known && is_single(&self.if_match) && is_single(&self.if_none_match) {
            Ok(())
        } else {
            Err(ErrorCode::MultipleConditionHeadersNotSupported.into())
        }
    }

    /// Judges a write to what was last changed then, or is not there.
    pub fn check_write(&self, current: Option<DateTime>) -> Result<(), ServiceError> {
        self.check_combination()?;
        let holds = match current {
            // An absent blob has no tag to match; every other condition protects an existing version.
            None => self.if_match.is_none(),
            Some(changed) => self.holds_for_write(changed),
        };
        if holds { Ok(()) } else { Err(ErrorCode::ConditionNotMet.into()) }
    }

    fn holds_for_write(&self, changed: DateTime) -> bool {
        match (&self.if_match, &self.if_none_match) {
            (Some(tags), _) => tags.matches(changed),
            (_, Some(tags)) => !tags.matches(changed),
            (None, None) => {
                self.if_modified_since.is_none_or(|date| seconds(changed) > seconds(date))
                    && self.if_unmodified_since.is_none_or(|date| seconds(changed) <= seconds(date))
            }
        }
    }
}

fn seconds(time: DateTime) -> i64 {
    time.unix_seconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::strong_etag;

    fn time(seconds: u64) -> DateTime {
        DateTime::from_unix_seconds(1_000_000 + seconds)
    }

    fn tags(of: u64) -> Option<EtagList> {
        Some(EtagList::parse(&strong_etag(time(of))).unwrap())
    }

    fn read(conditions: &Conditions) -> u16 {
        conditions.check_read(time(10)).map_or_else(|error| error.status, |()| 200)
    }

    #[test]
    fn a_failed_match_dominates_not_modified() {
        let none = Conditions::default();
        assert_eq!(read(&none), 200);
        assert_eq!(read(&Conditions { if_match: tags(10), ..none.clone() }), 200);
        assert_eq!(read(&Conditions { if_match: tags(9), ..none.clone() }), 412);
        assert_eq!(read(&Conditions { if_none_match: tags(10), ..none.clone() }), 304);
        assert_eq!(read(&Conditions { if_match: tags(9), if_none_match: tags(10), ..none.clone() }), 412);
        assert_eq!(read(&Conditions { if_modified_since: Some(time(10)), ..none.clone() }), 304);
        assert_eq!(read(&Conditions { if_modified_since: Some(time(9)), ..none.clone() }), 200);
        assert_eq!(read(&Conditions { if_unmodified_since: Some(time(9)), ..none.clone() }), 412);
        assert_eq!(read(&Conditions { if_unmodified_since: Some(time(10)), ..none.clone() }), 200);
    }

    #[test]
    fn one_success_is_enough_of_none_match_and_modified_since() {
        let both = |tag, date| Conditions {
            if_none_match: tags(tag),
            if_modified_since: Some(time(date)),
            ..Conditions::default()
        };
        assert_eq!(read(&both(10, 9)), 200);
        assert_eq!(read(&both(9, 10)), 200);
        assert_eq!(read(&both(10, 10)), 304);
    }

    #[test]
    fn any_version_but_none_is_no_question_for_a_read() {
        let conditions = Conditions { if_none_match: Some(EtagList::Any), ..Conditions::default() };
        assert_eq!(conditions.check_read(time(10)).unwrap_err().code, ErrorCode::UnsatisfiableCondition);
    }

    #[test]
    fn lists_of_tags_are_read_with_and_without_quotes() {
        let list = EtagList::parse("\"0x1F\", 0x2a, W/\"0x3\", \"other\", 0x+1").unwrap();
        assert_eq!(list, EtagList::Tags(vec![0x1f, 0x2a, 3, 0, 0]));
        assert!(EtagList::parse("").is_err());
    }

    #[test]
    fn writes_take_one_condition_or_a_pair_of_which_the_tag_decides() {
        let none = Conditions::default();
        let code = |conditions: Conditions, current| conditions.check_write(current).err().map(|error| error.code);
        let there = Some(time(10));
        assert_eq!(code(Conditions { if_match: tags(10), ..none.clone() }, there), None);
        assert_eq!(code(Conditions { if_match: tags(10), ..none.clone() }, None), Some(ErrorCode::ConditionNotMet));
        assert_eq!(
            code(Conditions { if_none_match: tags(10), ..none.clone() }, there),
            Some(ErrorCode::ConditionNotMet)
        );
        assert_eq!(code(Conditions { if_none_match: tags(10), ..none.clone() }, None), None);
        let pair = Conditions { if_match: tags(10), if_unmodified_since: Some(time(1)), ..none.clone() };
        assert_eq!(code(pair, there), None);
        let pair = Conditions { if_none_match: tags(9), if_modified_since: Some(time(20)), ..none.clone() };
        assert_eq!(code(pair, there), None);
        for wrong in [
            Conditions { if_match: tags(10), if_none_match: tags(9), ..none.clone() },
            Conditions { if_match: tags(10), if_modified_since: Some(time(1)), ..none.clone() },
            Conditions { if_modified_since: Some(time(1)), if_unmodified_since: Some(time(1)), ..none.clone() },
            Conditions { if_match: Some(EtagList::Tags(vec![1, 2])), ..none.clone() },
        ] {
            assert_eq!(code(wrong, there), Some(ErrorCode::MultipleConditionHeadersNotSupported));
        }
    }
}
