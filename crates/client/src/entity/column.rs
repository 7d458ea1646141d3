//! Columns: typed properties in filters.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::{Filter, PARTITION_KEY, ROW_KEY, TIMESTAMP};

use super::literal::{IntoLiteral, edm};

/// A property with a type, in filters. `#[derive(TableEntity)]` generates a function for each field that returns its
/// column.
///
/// ```
/// use tablerock_client::{TableEntity, column, row_key};
///
/// #[derive(TableEntity)]
/// struct Employee {
///     #[entity(rename = "Age")]
///     age: i32,
///     #[entity(rename = "LastName")]
///     last_name: Option<String>,
/// }
///
/// let filter = Employee::age().ge(30).and(Employee::last_name().eq("O'Hara").or(column("Vip").eq(true)));
/// assert_eq!(filter.to_string(), "Age ge 30 and (LastName eq 'O''Hara' or Vip eq true)");
/// assert_eq!((!row_key().starts_with("a")).to_string(), "not (RowKey ge 'a' and RowKey lt 'b')");
/// ```
///
/// The compiler rejects values of another type:
///
/// ```compile_fail
/// # use tablerock_client::TableEntity;
/// # #[derive(TableEntity)]
/// # struct Employee { age: i32 }
/// Employee::age().gt("thirty");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column<E> {
    name: Cow<'static, str>,
    edm: PhantomData<fn(E)>,
}

/// Returns the column of a property of any type. A value has to have the type of the stored property: the service does
/// not match an `Int64` with an `Int32`.
pub fn column(name: impl Into<Cow<'static, str>>) -> Column<edm::Any> {
    Column::new(name)
}

/// Returns the column of the PartitionKey.
pub fn partition_key() -> Column<edm::String> {
    Column::new(PARTITION_KEY)
}

/// Returns the column of the RowKey.
pub fn row_key() -> Column<edm::String> {
    Column::new(ROW_KEY)
}

/// Returns the column of the Timestamp, the time of the last write.
pub fn timestamp() -> Column<edm::DateTime> {
    Column::new(TIMESTAMP)
}

impl<E> Column<E> {
    /// Returns the column of a property. The filter checks the name when it is sent.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), edm: PhantomData }
    }

    /// Returns the property's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Matches entities whose property equals a value.
    pub fn eq(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Eq, value)
    }

    /// Matches entities that have the property with another value.
    pub fn ne(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Ne, value)
    }

    /// Matches entities whose property is greater than a value.
    pub fn gt(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Gt, value)
    }

    /// Matches entities whose property is greater than or equal to a value.
    pub fn ge(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Ge, value)
    }

    /// Matches entities whose property is less than a value.
    pub fn lt(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Lt, value)
    }

    /// Matches entities whose property is less than or equal to a value.
    pub fn le(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Le, value)
    }

    /// Matches entities whose property is in a range. The end is not included.
    pub fn in_range(self, range: Range<impl IntoLiteral<E>>) -> Filter {
        let start = Self::new(self.name.clone());
        start.ge(range.start).and(self.lt(range.end))
    }

    /// Matches entities whose property equals one of the values.
    #[doc(alias = "in")]
    pub fn one_of<V: IntoLiteral<E>>(self, values: impl IntoIterator<Item = V>) -> Filter {
        Filter::any(values.into_iter().map(|value| Self::new(self.name.clone()).eq(value)))
    }

    fn compare(self, operator: Operator, value: impl IntoLiteral<E>) -> Filter {
        let (property, literal) = (self.name.into_owned(), value.into_literal());
        Filter::Compare(Comparison { property, operator, literal })
    }
}

impl Column<edm::String> {
    /// Matches entities whose property begins with a prefix. An empty one matches every string.
    #[doc(alias = "prefix")]
    pub fn starts_with(self, prefix: impl AsRef<str>) -> Filter {
        let prefix = prefix.as_ref();
        let end_column = Self::new(self.name.clone());
        let start = self.compare(Operator::Ge, prefix);
        match after_prefix(prefix) {
            Some(end) => start.and(end_column.lt(end)),
            None => start,
        }
    }
}

/// Returns the first string after all strings with a prefix, in the service's order, which is that of UTF-16.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        if let Some(next) = next_in_utf16(last) {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

/// Returns the next character in UTF-16 order, where those above U+FFFF are between U+D7FF and U+E000.
fn next_in_utf16(char: char) -> Option<char> {
    match char {
        '\u{d7ff}' => Some('\u{10000}'),
        '\u{10ffff}' => Some('\u{e000}'),
        '\u{ffff}' => None,
        other => char::from_u32(u32::from(other) + 1),
    }
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::compare_utf16;

    use super::*;

    #[test]
    fn a_prefix_ends_where_the_service_s_order_says() {
        for (prefix, end) in [
            ("a", Some("b")),
            ("empid_", Some("empid`")),
            ("z\u{ffff}", Some("{")),
            ("\u{d7ff}", Some("\u{10000}")),
            ("\u{10ffff}", Some("\u{e000}")),
            ("\u{ffff}", None),
            ("", None),
        ] {
            assert_eq!(after_prefix(prefix).as_deref(), end, "{prefix:?}");
            for tail in ["", "\u{0}", "zzz", "\u{10ffff}", "\u{ffff}"] {
                let text = format!("{prefix}{tail}");
                assert!(compare_utf16(&text, prefix).is_ge());
                assert!(end.is_none_or(|end| compare_utf16(&text, end).is_lt()), "{text:?}");
            }
        }
    }

    #[test]
    fn nothing_can_be_injected() {
        let filter = column("Name").eq("x' or 'a' eq 'a");
        assert_eq!(filter.to_text().unwrap(), "Name eq 'x'' or ''a'' eq ''a'");
        assert!(column("Name eq 'x' or Name").eq("y").to_text().is_err());
    }

    #[test]
    fn one_of_nothing_finds_nothing() {
        assert_eq!(row_key().one_of(["a", "b"]).to_string(), "RowKey eq 'a' or RowKey eq 'b'");
        assert_eq!(row_key().one_of([""; 0]).to_string(), "PartitionKey lt ''");
    }
}
