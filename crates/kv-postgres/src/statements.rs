//! Every statement of normal operation, prepared once per connection.
//!
//! All of them find their rows by the primary key, and all but the scans touch one partition only. They use SQL that the
//! databases have in common, in the form that Citus can route to one shard. Only of rows that come from arrays Citus does
//! not know that they have one partition: it copies them to their shard.

use tokio_postgres::{Client, Error, Statement};

use crate::kind::Kind;
use crate::place::Place;
use crate::schema::{DIRECTORY, RECORDS};

/// The value of one record.
pub(crate) const GET: &str = "SELECT value FROM tablerock_records WHERE partition = $1 AND key = $2";

/// The values of some records of a partition.
pub(crate) const READ: &str = "SELECT key, value FROM tablerock_records WHERE partition = $1 AND key = ANY($2)";

/// The digests of some records of a partition.
pub(crate) const CHECK: &str = "SELECT key, digest FROM tablerock_records WHERE partition = $1 AND key = ANY($2)";

/// The same, with a lock until the transaction ends. All transactions lock in the order of keys, which avoids deadlocks.
pub(crate) const LOCK: &str = "SELECT key, digest FROM tablerock_records WHERE partition = $1 AND key = ANY($2) \
     ORDER BY key FOR UPDATE";

/// A record that a transaction rests on and does not change, with a lock that only changes wait for.
pub(crate) const LOCK_TO_SHARE: &str =
    "SELECT value FROM tablerock_records WHERE partition = $1 AND key = $2 FOR SHARE";

/// The same for a record that the transaction changes: two that hold it for sharing would wait for each other.
pub(crate) const LOCK_TO_CHANGE: &str =
    "SELECT value FROM tablerock_records WHERE partition = $1 AND key = $2 FOR UPDATE";

pub(crate) const INSERT: &str = "INSERT INTO tablerock_records (partition, key, digest, value) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (partition, key) DO NOTHING";

pub(crate) const PUT: &str = "INSERT INTO tablerock_records (partition, key, digest, value) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (partition, key) DO UPDATE SET digest = excluded.digest, value = excluded.value";

/// Puts a record over an earlier version only. A version is the first nine bytes of a value, as `VERSION_BYTES` has it.
pub(crate) const PUT_OVER_EARLIER: &str = "INSERT INTO tablerock_records (partition, key, digest, value) \
     VALUES ($1, $2, $3, $4) \
     ON CONFLICT (partition, key) DO UPDATE SET digest = excluded.digest, value = excluded.value \
     WHERE substr(tablerock_records.value, 1, 9) < substr(excluded.value, 1, 9)";

pub(crate) const REPLACE: &str = "UPDATE tablerock_records SET digest = $3, value = $4 \
     WHERE partition = $1 AND key = $2 AND digest = $5";

pub(crate) const REMOVE: &str = "DELETE FROM tablerock_records WHERE partition = $1 AND key = $2 AND digest = $3";

/// An existing row is an error, which aborts the transaction. It is rare: the caller has just read the rows.
pub(crate) const INSERT_MANY: &str = "INSERT INTO tablerock_records (partition, key, digest, value) \
     SELECT $1, fresh.key, fresh.digest, fresh.value \
     FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS fresh (key, digest, value) ORDER BY fresh.key";

pub(crate) const PUT_MANY: &str = "INSERT INTO tablerock_records (partition, key, digest, value) \
     SELECT $1, fresh.key, fresh.digest, fresh.value \
     FROM unnest($2::bytea[], $3::bytea[], $4::bytea[]) AS fresh (key, digest, value) ORDER BY fresh.key \
     ON CONFLICT (partition, key) DO UPDATE SET digest = excluded.digest, value = excluded.value";

pub(crate) const DELETE_MANY: &str = "DELETE FROM tablerock_records WHERE partition = $1 AND key = ANY($2)";

/// A scan: `$1` is the maximum number of rows, `$2` the bytes after which rows have no value. The database applies the byte
/// limit, so that no more is sent and held than requested. The order is given three times, as that of the index, so that
/// nothing is sorted.
macro_rules! scan {
    ($condition:literal in order of $order:literal) => {
        concat!(
            "SELECT partition, key, CASE WHEN total - size < $2 THEN value END FROM (SELECT partition, key, value, size, \
             CAST(sum(size) OVER (ORDER BY ",
            $order,
            " ROWS UNBOUNDED PRECEDING) AS bigint) AS total FROM (SELECT partition, key, value, \
             CAST(length(partition) + length(key) + length(value) AS bigint) AS size FROM tablerock_records WHERE ",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT $1) AS first_rows) AS running ORDER BY ",
            $order
        )
    };
}

pub(crate) const SCAN_PARTITION: &str = scan!("partition = $3 AND key >= $4" in order of "key");
pub(crate) const SCAN_WITHIN_PARTITION: &str = scan!("partition = $3 AND key >= $4 AND key < $5" in order of "key");
pub(crate) const SCAN_TO_END: &str = scan!("(partition, key) >= ($3, $4)" in order of "partition, key");
pub(crate) const SCAN: &str =
    scan!("(partition, key) >= ($3, $4) AND (partition, key) < ($5, $6)" in order of "partition, key");

/// A scan in two steps, over partitions that are spread by a hash: keys and sizes, then the values up to a position.
pub(crate) const SCAN_KEYS: &str = "SELECT partition, key, \
     CAST(length(partition) + length(key) + length(value) AS bigint) FROM tablerock_records \
     WHERE (partition, key) >= ($2, $3) AND (partition, key) < ($4, $5) ORDER BY partition, key LIMIT $1";
pub(crate) const SCAN_KEYS_TO_END: &str = "SELECT partition, key, \
     CAST(length(partition) + length(key) + length(value) AS bigint) FROM tablerock_records \
     WHERE (partition, key) >= ($2, $3) ORDER BY partition, key LIMIT $1";
pub(crate) const SCAN_VALUES: &str = "SELECT partition, key, value FROM tablerock_records \
     WHERE (partition, key) >= ($2, $3) AND (partition, key) <= ($4, $5) ORDER BY partition, key LIMIT $1";

/// A record, and one or some records of another partition. On Citus the first is one of a directory, which is copied to every
/// node, so that the node with the second partition reads both.
pub(crate) const BOTH: &str = "SELECT false, value FROM tablerock_directory WHERE partition = $1 AND key = $2 \
     UNION ALL SELECT true, value FROM tablerock_records WHERE partition = $3 AND key = $4";
pub(crate) const ONE_AND_SOME: &str = "SELECT false, key, value FROM tablerock_directory WHERE partition = $1 AND key = $2 \
     UNION ALL SELECT true, key, value FROM tablerock_records WHERE partition = $3 AND key = ANY($4)";

/// Marks a change of directories, in its transaction and again after it: see [`commit`](crate::commit).
pub(crate) const MARK: &str = "UPDATE tablerock_marks SET changes = changes + 1 WHERE id = $1";

/// The statements of one connection.
pub(crate) struct Statements {
    records: TableStatements,
    /// Those of the table of directories, where there is one.
    directory: Option<TableStatements>,
    pub(crate) both: Statement,
    pub(crate) one_and_some: Statement,
    /// Where there is a table of directories.
    pub(crate) mark: Option<Statement>,
}

impl Statements {
    pub(crate) async fn prepare(client: &Client, kind: Kind) -> Result<Self, Error> {
        let has_directory = kind == Kind::Citus;
        let directory = async {
            match has_directory {
                true => TableStatements::prepare(client, DIRECTORY).await.map(Some),
                false => Ok(None),
            }
        };
        let [both, one_and_some] = [BOTH, ONE_AND_SOME].map(|text| match has_directory {
            true => text.to_owned(),
            false => text.replace(DIRECTORY, RECORDS),
        });
        let mark = async {
            match has_directory {
                true => client.prepare(MARK).await.map(Some),
                false => Ok(None),
            }
        };
        let (records, directory, mark, both, one_and_some) = tokio::try_join!(
            TableStatements::prepare(client, RECORDS),
            directory,
            mark,
            client.prepare(&both),
            client.prepare(&one_and_some),
        )?;
        Ok(Self { records, directory, both, one_and_some, mark })
    }

    /// The statements of a table.
    pub(crate) fn at(&self, place: Place) -> &TableStatements {
        match place {
            Place::Records => &self.records,
            Place::Directory => self.directory.as_ref().unwrap_or(&self.records),
        }
    }
}

/// The statements of one table.
pub(crate) struct TableStatements {
    pub(crate) get: Statement,
    pub(crate) read: Statement,
    pub(crate) check: Statement,
    pub(crate) lock: Statement,
    pub(crate) lock_to_share: Statement,
    pub(crate) lock_to_change: Statement,
    pub(crate) insert: Statement,
    pub(crate) put: Statement,
    pub(crate) put_over_earlier: Statement,
    pub(crate) replace: Statement,
    pub(crate) remove: Statement,
    pub(crate) insert_many: Statement,
    pub(crate) put_many: Statement,
    pub(crate) delete_many: Statement,
    pub(crate) scan_partition: Statement,
    pub(crate) scan_within_partition: Statement,
    pub(crate) scan_to_end: Statement,
    pub(crate) scan: Statement,
    pub(crate) scan_keys: Statement,
    pub(crate) scan_keys_to_end: Statement,
    pub(crate) scan_values: Statement,
}

impl TableStatements {
    /// Prepares all statements in three round trips.
    async fn prepare(client: &Client, table: &str) -> Result<Self, Error> {
        let prepare = async |text: &str| client.prepare(&text.replace(RECORDS, table)).await;
        let (lock_to_share, lock_to_change, put_over_earlier, get, read, check, lock) = tokio::try_join!(
            prepare(LOCK_TO_SHARE),
            prepare(LOCK_TO_CHANGE),
            prepare(PUT_OVER_EARLIER),
            prepare(GET),
            prepare(READ),
            prepare(CHECK),
            prepare(LOCK),
        )?;
        let (insert, put, replace, remove, insert_many, put_many, delete_many) = tokio::try_join!(
            prepare(INSERT),
            prepare(PUT),
            prepare(REPLACE),
            prepare(REMOVE),
            prepare(INSERT_MANY),
            prepare(PUT_MANY),
            prepare(DELETE_MANY),
        )?;
        let (scan_partition, scan_within_partition, scan_to_end, scan, scan_keys, scan_keys_to_end, scan_values) = tokio::try_join!(
            prepare(SCAN_PARTITION),
            prepare(SCAN_WITHIN_PARTITION),
            prepare(SCAN_TO_END),
            prepare(SCAN),
            prepare(SCAN_KEYS),
            prepare(SCAN_KEYS_TO_END),
            prepare(SCAN_VALUES),
        )?;
        Ok(Self {
            get,
            read,
            check,
            lock,
            lock_to_share,
            lock_to_change,
            insert,
            put,
            put_over_earlier,
            replace,
            remove,
            insert_many,
            put_many,
            delete_many,
            scan_partition,
            scan_within_partition,
            scan_to_end,
            scan,
            scan_keys,
            scan_keys_to_end,
            scan_values,
        })
    }
}
