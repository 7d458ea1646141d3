//! The entities that the filters are about.

use tablerock_client::{DateTime, TableEntity, Uuid};

/// Keys that find mistakes in quoting and encoding; the first sample has the first, and so on.
pub(crate) const ODD_KEYS: [&str; SAMPLES] = [
    "plain",
    "o'clock",
    "''",
    "100%41",
    "a+b&c=d",
    "f(x), \"y\"",
    " two  spaces ",
    "naïve日本語",
    "😀;:@~^`|{}",
    "' or RowKey ne '",
];

pub(crate) const SAMPLES: usize = 10;

/// A property of every type, and one that only some entities have.
#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
pub(crate) struct Sample {
    #[entity(partition_key)]
    pub(crate) group: String,
    #[entity(row_key)]
    pub(crate) row: String,
    pub(crate) number: i32,
    pub(crate) text: String,
    pub(crate) large: i64,
    pub(crate) real: f64,
    pub(crate) truth: bool,
    pub(crate) second: DateTime,
    pub(crate) tick: DateTime,
    pub(crate) id: Uuid,
    pub(crate) bytes: Vec<u8>,
    pub(crate) maybe: Option<i32>,
}

/// A time in the year 2026.
const TICKS: u64 = 639_000_000_000_000_000;
const TICKS_PER_SECOND: u64 = 10_000_000;

impl Sample {
    pub(crate) fn all() -> Vec<Self> {
        (0..).zip(ODD_KEYS).map(|(number, key)| Self::new(number, key)).collect()
    }

    fn new(number: i32, key: &str) -> Self {
        let ordinal = u64::from(number.unsigned_abs());
        Self {
            group: if number < 5 { "low's" } else { "hïgh" }.to_owned(),
            row: key.to_owned(),
            number: number - 3,
            text: key.to_owned(),
            large: i64::MIN + i64::from(number),
            real: f64::from(number) - 2.5,
            truth: number % 2 == 0,
            second: DateTime::from_ticks(TICKS + ordinal * TICKS_PER_SECOND),
            tick: DateTime::from_ticks(TICKS + ordinal),
            id: Uuid::from_u128(0x00ab_cdef_0000_0000_0000_0000_0000_0000 + u128::from(ordinal)),
            bytes: vec![0xff, number as u8],
            maybe: (number >= 8).then_some(number),
        }
    }
}
