//! The rows of the table of targets.

use clap::ValueEnum;

/// One kind of work, as `--only` names it, in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Row {
    PointRead,
    InsertMany,
    InsertOne,
    InsertSingle,
    Group,
    PartitionQuery,
    RowRange,
    FilterScan,
    BigRead,
    PutMessage,
    GetMessage,
    DeleteMessage,
    MessageRoundTrip,
    PutSmallBlob,
    GetSmallBlob,
    PutMediumBlob,
    GetMediumBlob,
    PutLargeBlob,
    GetLargeBlob,
    Start,
    BigStart,
    Memory,
    Size,
}

impl Row {
    pub const ALL: [Row; 23] = [
        Row::PointRead,
        Row::InsertMany,
        Row::InsertOne,
        Row::InsertSingle,
        Row::Group,
        Row::PartitionQuery,
        Row::RowRange,
        Row::FilterScan,
        Row::BigRead,
        Row::PutMessage,
        Row::GetMessage,
        Row::DeleteMessage,
        Row::MessageRoundTrip,
        Row::PutSmallBlob,
        Row::GetSmallBlob,
        Row::PutMediumBlob,
        Row::GetMediumBlob,
        Row::PutLargeBlob,
        Row::GetLargeBlob,
        Row::Start,
        Row::BigStart,
        Row::Memory,
        Row::Size,
    ];

    /// How the report calls it.
    pub fn title(self) -> &'static str {
        match self {
            Row::PointRead => "point read",
            Row::InsertMany => "insert, many partitions",
            Row::InsertOne => "insert, one partition",
            Row::InsertSingle => "insert, one connection",
            Row::Group => "group transaction of 100 inserts",
            Row::PartitionQuery => "partition query, 100 entities of 1 KB",
            Row::RowRange => "row-range query returning 10",
            Row::FilterScan => "filter scan that returns 1",
            Row::BigRead => "point read in a big table",
            Row::PutMessage => "put message of 1 KB",
            Row::GetMessage => "get message",
            Row::DeleteMessage => "delete message",
            Row::MessageRoundTrip => "put, get and delete a message",
            Row::PutSmallBlob => "put blob of 4 KiB",
            Row::GetSmallBlob => "get blob of 4 KiB",
            Row::PutMediumBlob => "put blob of 1 MiB",
            Row::GetMediumBlob => "get blob of 1 MiB",
            Row::PutLargeBlob => "put blob of 100 MiB",
            Row::GetLargeBlob => "get blob of 100 MiB",
            Row::Start => "start on an empty directory to first response",
            Row::BigStart => "start on a big table to first response",
            Row::Memory => "memory",
            Row::Size => "size of the stripped binary",
        }
    }
}
