//! Columns: properties by name, to be compared with values of their type.

use std::borrow::Cow;
use std::marker::PhantomData;

use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::{Filter, PARTITION_KEY, ROW_KEY, TIMESTAMP};

use super::literal::{IntoLiteral, edm};

/// A property whose type is known. `#[derive(TableEntity)]` makes a function for each field that returns its column.
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
/// assert_eq!((!row_key().prefix("a")).to_string(), "not (RowKey ge 'a' and RowKey lt 'b')");
/// ```
///
/// Types that do not fit are refused by the compiler:
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

/// A property by name, to be compared with values of any type. Its type must then be that of the stored property: the
/// service finds no `Int64` that equals an `Int32`.
pub fn column(name: impl Into<Cow<'static, str>>) -> Column<edm::Any> {
    Column::new(name)
}

/// The PartitionKey.
pub fn partition_key() -> Column<edm::String> {
    Column::new(PARTITION_KEY)
}

/// The RowKey.
pub fn row_key() -> Column<edm::String> {
    Column::new(ROW_KEY)
}

/// The time of the last write.
pub fn timestamp() -> Column<edm::DateTime> {
    Column::new(TIMESTAMP)
}

impl<E> Column<E> {
    /// The column of a property. Its name is checked when the filter is used.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), edm: PhantomData }
    }

    /// The property's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Equal.
    pub fn eq(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Eq, value)
    }

    /// There, and not equal.
    pub fn ne(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Ne, value)
    }

    /// Greater.
    pub fn gt(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Gt, value)
    }

    /// Greater or equal.
    pub fn ge(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Ge, value)
    }

    /// Less.
    pub fn lt(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Lt, value)
    }

    /// Less or equal.
    pub fn le(self, value: impl IntoLiteral<E>) -> Filter {
        self.compare(Operator::Le, value)
    }

    /// From the first value up to the second, which is not included.
    pub fn between(self, from: impl IntoLiteral<E>, to: impl IntoLiteral<E>) -> Filter {
        let again = Self::new(self.name.clone());
        again.ge(from).and(self.lt(to))
    }

    /// Equal to one of the values.
    pub fn one_of<V: IntoLiteral<E>>(self, values: impl IntoIterator<Item = V>) -> Filter {
        Filter::any(values.into_iter().map(|value| Self::new(self.name.clone()).eq(value)))
    }

    fn compare(self, operator: Operator, value: impl IntoLiteral<E>) -> Filter {
        let (property, literal) = (self.name.into_owned(), value.into_literal());
        Filter::Compare(Comparison { property, operator, literal })
    }
}

impl Column<edm::String> {
    /// Beginning with a text. An empty one holds for every text.
    pub fn prefix(self, prefix: impl AsRef<str>) -> Filter {
        let prefix = prefix.as_ref();
        let again = Self::new(self.name.clone());
        let from = self.compare(Operator::Ge, prefix);
        match after_prefix(prefix) {
            Some(end) => from.and(again.lt(end)),
            None => from,
        }
    }
}

/// The first text that comes after all texts with a prefix, in the service's order, which is that of UTF-16.
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

/// The next character. In UTF-16 those above U+FFFF lie between U+D7FF and U+E000.
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
