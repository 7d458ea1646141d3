//! Which parts of a table a query has to read, from what its filter says about keys.
//!
//! The plan covers at least everything that can match; the filter still judges each entity. A conjunction
//! narrows and a disjunction adds: `or` over RowKeys becomes several point reads, not a scan of the partition.

use tablerock_kv::key::text_to_key_bytes;
use tablerock_kv::{Bytes, Position, Range};
use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::{Filter, PARTITION_KEY, ROW_KEY, Value};

use super::keys;

/// Above this many rectangles the plan stops being exact and falls back on reading more.
const RECTANGLES_MAX: usize = 1024;

/// The ranges that a query has to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The ranges of the table that can hold matches: disjoint, in order.
    pub(super) ranges: Vec<Range>,
    /// Whether everything in the ranges matches, so that the filter need not be asked again.
    pub(super) is_exact: bool,
}

impl Plan {
    pub(super) fn new(table_id: u64, filter: Option<&Filter>) -> Self {
        let mut planner = Planner { is_exact: true };
        let rectangles = filter.map_or_else(|| vec![Rectangle::ALL], |filter| planner.rectangles(filter, false));
        let is_exact = planner.is_exact && rectangles.iter().all(Rectangle::is_range);
        let ranges = rectangles.iter().map(|rectangle| rectangle.range(table_id)).collect();
        Self { ranges: disjoint(ranges), is_exact }
    }
}

/// Sorts ranges and joins those that meet.
fn disjoint(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by(|a, b| a.start.cmp(&b.start));
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| *end >= range.start) => {
                let longer = match (&last.end, &range.end) {
                    (Some(a), Some(b)) => Some(a.max(b).clone()),
                    _ => None,
                };
                last.end = longer;
            }
            _ => merged.push(range),
        }
    }
    merged
}

/// A half-open interval of keys in key form; no end means no bound.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Interval {
    start: Bytes,
    end: Option<Bytes>,
}

impl Interval {
    const ALL: Interval = Interval { start: Bytes::new(), end: None };

    /// The keys for which `key operator text` holds.
    fn of(operator: Operator, text: &str) -> Vec<Self> {
        let at = Bytes::copy_from_slice(&text_to_key_bytes(text));
        let after = successor(&at);
        match operator {
            Operator::Eq => vec![Self { start: at, end: Some(after) }],
            Operator::Ne => vec![Self { start: Bytes::new(), end: Some(at) }, Self { start: after, end: None }],
            Operator::Gt => vec![Self { start: after, end: None }],
            Operator::Ge => vec![Self { start: at, end: None }],
            Operator::Lt => vec![Self { start: Bytes::new(), end: Some(at) }],
            Operator::Le => vec![Self { start: Bytes::new(), end: Some(after) }],
        }
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        let start = (&self.start).max(&other.start).clone();
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (one, None) | (None, one) => one.clone(),
        };
        end.as_ref().is_none_or(|end| *end > start).then_some(Self { start, end })
    }

    /// The one key of an interval that has just one.
    fn point(&self) -> Option<&Bytes> {
        self.end.as_ref().is_some_and(|end| *end == successor(&self.start)).then_some(&self.start)
    }
}

/// The smallest key after this one: nothing fits between them.
fn successor(key: &Bytes) -> Bytes {
    Position::start_of(key.clone()).partition.iter().copied().chain([0]).collect()
}

/// Partitions in one interval, rows in another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rectangle {
    partitions: Interval,
    rows: Interval,
}

impl Rectangle {
    const ALL: Rectangle = Rectangle { partitions: Interval::ALL, rows: Interval::ALL };

    fn intersect(&self, other: &Self) -> Option<Self> {
        let partitions = self.partitions.intersect(&other.partitions)?;
        Some(Self { partitions, rows: self.rows.intersect(&other.rows)? })
    }

    /// Whether its records follow one another, with none between that are outside.
    fn is_range(&self) -> bool {
        self.partitions.point().is_some() || self.rows == Interval::ALL
    }

    /// The smallest range around the rectangle. Within one partition that is exact; over several, rows can only
    /// narrow the first.
    fn range(&self, table_id: u64) -> Range {
        let partition = |key: &[u8]| keys::entity_partition_from(table_id, key);
        let start = Position::new(partition(&self.partitions.start), self.rows.start.clone());
        if let Some(point) = self.partitions.point() {
            let end = match &self.rows.end {
                Some(row) => Position::new(partition(point), row.clone()),
                None => Position::end_of(&partition(point)),
            };
            return Range::between(start, end);
        }
        let end = match &self.partitions.end {
            Some(end) => Some(Position::start_of(partition(end))),
            None => keys::table_range(table_id).end,
        };
        Range { start, end }
    }
}

/// Turns a filter into rectangles, and notices where that loses something.
struct Planner {
    is_exact: bool,
}

impl Planner {
    /// The rectangles outside of which the filter (or its negation) cannot hold.
    fn rectangles(&mut self, filter: &Filter, negated: bool) -> Vec<Rectangle> {
        match (filter, negated) {
            (Filter::And(parts), false) | (Filter::Or(parts), true) => {
                let mut all = vec![Rectangle::ALL];
                for part in parts {
                    let narrower = self.rectangles(part, negated);
                    all = self.intersect(all, &narrower);
                }
                all
            }
            (Filter::Or(parts), false) | (Filter::And(parts), true) => {
                let all: Vec<_> = parts.iter().flat_map(|part| self.rectangles(part, negated)).collect();
                if all.len() > RECTANGLES_MAX { self.give_up(vec![Rectangle::ALL]) } else { all }
            }
            (Filter::Not(inner), negated) => self.rectangles(inner, !negated),
            (Filter::Compare(comparison), negated) => self.compare(comparison, negated),
            // A key is a String, never a Boolean.
            (Filter::IsTrue(name), negated) if is_key(name) => constant(negated),
            (Filter::IsTrue(_), _) => self.give_up(vec![Rectangle::ALL]),
        }
    }

    /// Where the plan covers more than the filter does.
    fn give_up(&mut self, covering: Vec<Rectangle>) -> Vec<Rectangle> {
        self.is_exact = false;
        covering
    }

    fn intersect(&mut self, left: Vec<Rectangle>, right: &[Rectangle]) -> Vec<Rectangle> {
        if left.len() * right.len() > RECTANGLES_MAX {
            return self.give_up(left);
        }
        left.iter().flat_map(|a| right.iter().filter_map(|b| a.intersect(b))).collect()
    }

    fn compare(&mut self, comparison: &Comparison, negated: bool) -> Vec<Rectangle> {
        if !is_key(&comparison.property) {
            return self.give_up(vec![Rectangle::ALL]);
        }
        let Value::String(text) = &comparison.literal else {
            // Every key is a String, so a literal of another type decides without looking at any.
            let holds = comparison.holds_for(&Value::String("".into()));
            return constant(holds != negated);
        };
        let operator = if negated { negation(comparison.operator) } else { comparison.operator };
        let is_partition = comparison.property == PARTITION_KEY;
        let intervals = Interval::of(operator, text).into_iter();
        intervals
            .map(|interval| match is_partition {
                true => Rectangle { partitions: interval, rows: Interval::ALL },
                false => Rectangle { partitions: Interval::ALL, rows: interval },
            })
            .collect()
    }
}

fn is_key(name: &str) -> bool {
    name == PARTITION_KEY || name == ROW_KEY
}

fn constant(holds: bool) -> Vec<Rectangle> {
    if holds { vec![Rectangle::ALL] } else { vec![] }
}

/// Keys are always there and always Strings, so a comparison of them has an exact opposite.
const fn negation(operator: Operator) -> Operator {
    match operator {
        Operator::Eq => Operator::Ne,
        Operator::Ne => Operator::Eq,
        Operator::Gt => Operator::Le,
        Operator::Ge => Operator::Lt,
        Operator::Lt => Operator::Ge,
        Operator::Le => Operator::Gt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u64 = 7;

    fn ranges(filter: &str) -> Vec<Range> {
        Plan::new(TABLE, Filter::parse(filter).unwrap().as_ref()).ranges
    }

    fn is_exact(filter: &str) -> bool {
        Plan::new(TABLE, Filter::parse(filter).unwrap().as_ref()).is_exact
    }

    fn at(partition_key: &str, row_key: &str) -> Position {
        Position::new(keys::entity_partition(TABLE, partition_key), keys::entity_key(row_key))
    }

    fn point(partition_key: &str, row_key: &str) -> Range {
        Range::between(at(partition_key, row_key), at(partition_key, row_key).successor())
    }

    fn partition(key: &str) -> Range {
        Range::partition(&keys::entity_partition(TABLE, key))
    }

    #[test]
    fn keys_narrow_what_is_read() {
        assert_eq!(ranges("PartitionKey eq 'p' and RowKey eq 'r'"), [point("p", "r")]);
        assert_eq!(ranges("'r' eq RowKey and Age gt 3 and PartitionKey eq 'p'"), [point("p", "r")]);
        assert_eq!(ranges("PartitionKey eq 'p' and Age gt 3"), [partition("p")]);
        assert_eq!(
            ranges("PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'"),
            [Range::between(at("p", "a"), at("p", "b"))]
        );
        assert_eq!(ranges("PartitionKey ge 'p' and PartitionKey lt 'q'"), [Range::between(at("p", ""), at("q", ""))]);
        assert_eq!(ranges("Age gt 3"), [keys::table_range(TABLE)]);
        assert_eq!(Plan::new(TABLE, None).ranges, [keys::table_range(TABLE)]);
    }

    #[test]
    fn a_disjunction_over_keys_is_several_points() {
        assert_eq!(
            ranges("PartitionKey eq 'p' and (RowKey eq 'c' or RowKey eq 'a' or RowKey eq 'a')"),
            [point("p", "a"), point("p", "c")]
        );
        assert_eq!(
            ranges("(PartitionKey eq 'q' and RowKey eq '1') or (PartitionKey eq 'p' and RowKey eq '2' and X eq 1)"),
            [point("p", "2"), point("q", "1")]
        );
        assert_eq!(ranges("PartitionKey eq 'p' or Age gt 3"), [keys::table_range(TABLE)]);
    }

    #[test]
    fn negation_is_followed_inwards() {
        assert_eq!(
            ranges("PartitionKey eq 'p' and not (RowKey lt 'a' or RowKey ge 'b')"),
            [Range::between(at("p", "a"), at("p", "b"))]
        );
        assert_eq!(ranges("not (PartitionKey ne 'p')"), [partition("p")]);
        assert_eq!(ranges("not (Age gt 3)"), [keys::table_range(TABLE)]);
    }

    #[test]
    fn what_cannot_match_is_not_read() {
        assert_eq!(ranges("PartitionKey eq 'p' and PartitionKey eq 'q'"), []);
        assert_eq!(ranges("RowKey gt 'b' and RowKey lt 'a'"), []);
        assert_eq!(ranges("PartitionKey eq 'p' and 1 eq 2"), []);
        let of_another_type = |operator| {
            let comparison = Comparison { property: PARTITION_KEY.to_owned(), operator, literal: Value::Int32(5) };
            Plan::new(TABLE, Some(&Filter::Compare(comparison))).ranges
        };
        assert_eq!(of_another_type(Operator::Eq), []);
        assert_eq!(of_another_type(Operator::Ne), [keys::table_range(TABLE)]);
        assert_eq!(Plan::new(TABLE, Some(&Filter::IsTrue(PARTITION_KEY.to_owned()))).ranges, []);
    }

    #[test]
    fn constants_plan_everything_or_nothing() {
        assert_eq!((ranges("false"), is_exact("false")), (vec![], true));
        assert_eq!((ranges("true"), is_exact("not false")), (vec![keys::table_range(TABLE)], true));
        assert_eq!(ranges("PartitionKey eq 'p' and true"), [partition("p")]);
        assert!(is_exact("PartitionKey eq 'p' and true or 1 gt 2"));
    }

    #[test]
    fn a_plan_knows_whether_it_says_all_that_the_filter_does() {
        assert!(is_exact("PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'"));
        assert!(is_exact("PartitionKey gt 'p' or not (PartitionKey ge 'a')"));
        assert!(!is_exact("PartitionKey eq 'p' and Age gt 3"));
        assert!(!is_exact("PartitionKey gt 'p' and RowKey eq 'r'"), "rows of other keys lie between");
        assert!(!is_exact("Flag"));
    }

    #[test]
    fn an_explosion_of_cases_falls_back_on_reading_more() {
        let rows = |name: &str| (0..60).map(|n| format!("{name} eq '{n}'")).collect::<Vec<_>>().join(" or ");
        let filter = format!("({}) and ({})", rows("PartitionKey"), rows("RowKey"));
        assert_eq!(ranges(&filter).len(), 60, "sixty partitions, each read whole");
    }
}
