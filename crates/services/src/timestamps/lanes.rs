//! Lanes: how servers that share a store never hand out the same timestamp.
//!
//! Ticks are dealt to lanes in turn, and each server hands out those of its own lane. A lane has a ceiling in the store,
//! with the server that raised it last. A server raises its ceiling in a transaction that expects to find itself there.
//! If it does not, another server took the lane and began at the ceiling it found; the first one then takes another lane.
//! So each tick below a ceiling belongs to the one server that raised it there. No clock and no lease is
//! trusted for that. A lane whose ceiling is in the past is free: its server stopped, or has had nothing to write.

use tablerock_kv::{Bytes, Error, Position, Range, Result, ScanLimits, Store, Transaction};

use crate::keys;

/// More servers than lanes are possible, and then take them from one another.
const LANES: u8 = 64;

/// How often a reservation runs into another server's before it gives up.
const ATTEMPTS_MAX: usize = 64;

/// Which ticks a server hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane(Option<u8>);

impl Lane {
    /// All of them: no other server writes to the store.
    pub(super) const ALL: Self = Self(None);

    /// The first tick of the lane that is not before this one.
    pub(super) fn at_or_after(self, ticks: u64) -> u64 {
        let Some(number) = self.0 else { return ticks };
        let (lanes, number) = (u64::from(LANES), u64::from(number));
        ticks + (lanes + number - ticks % lanes) % lanes
    }
}

/// The ticks that a server may hand out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reserved {
    pub(super) lane: Lane,
    /// Nothing before this.
    pub(super) from: u64,
    /// Nothing at or above this.
    pub(super) ceiling: u64,
}

/// The lanes of one service, as one server sees them.
#[derive(Debug)]
pub(super) struct Lanes {
    store: Store,
    key: &'static [u8],
    /// A random number that no other server has.
    owner: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) ceiling: u64,
    pub(super) owner: u64,
}

impl Lanes {
    pub(super) fn new(store: Store, key: &'static [u8], owner: u64) -> Self {
        Self { store, key, owner }
    }

    /// Raises the ceiling of a server's lane, or finds it another lane.
    pub(super) async fn reserve(&self, lane: Lane, present: u64, ticks: u64) -> Result<Reserved> {
        if let Some(number) = lane.0
            && let Some(reserved) = self.raise(number, present, ticks, |record| record.owner == self.owner).await?
        {
            return Ok(reserved);
        }
        for _ in 0..ATTEMPTS_MAX {
            let (number, seen) = self.choose(present).await?;
            if let Some(reserved) = self.raise(number, present, ticks, |record| *record == seen).await? {
                return Ok(reserved);
            }
        }
        Err(Error::unavailable("other servers are taking all lanes of timestamps; retry later"))
    }

    /// Returns the unused ticks to the lane.
    pub(super) async fn lower(&self, lane: Lane, used: u64) -> Result<()> {
        let Some(number) = lane.0 else { return Ok(()) };
        let key = self.key_of(number);
        let decide = |tx: &mut Transaction| {
            let record = decode(tx.get(&key))?;
            if record.owner == self.owner {
                tx.put(key.clone(), encode(Record { ceiling: used, ..record }));
            }
            Ok(())
        };
        self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await
    }

    /// Raises a ceiling if the record is one that may be.
    async fn raise(
        &self,
        number: u8,
        present: u64,
        ticks: u64,
        may: impl Fn(&Record) -> bool + Send + Sync,
    ) -> Result<Option<Reserved>> {
        let key = self.key_of(number);
        let decide = |tx: &mut Transaction| {
            let record = decode(tx.get(&key))?;
            if !may(&record) {
                return Ok(None);
            }
            // What is left below our own ceiling is still ours; below another's it never was.
            let from = if record.owner == self.owner { 0 } else { record.ceiling };
            let ceiling = (present.max(from) + ticks).max(record.ceiling);
            tx.put(key.clone(), encode(Record { ceiling, owner: self.owner }));
            Ok(Some(Reserved { lane: Lane(Some(number)), from, ceiling }))
        };
        self.store.transact(&keys::system_partition(), vec![key.clone()], decide).await
    }

    /// A lane that is free, or else the one whose ceiling is nearest.
    async fn choose(&self, present: u64) -> Result<(u8, Record)> {
        let limits = ScanLimits { records_max: LANES as usize, bytes_max: 1 << 20, deadline: None };
        let partition = keys::system_partition();
        let after_last = [&self.key_of(LANES - 1)[..], &[0]].concat();
        let range =
            Range::between(Position::new(partition.clone(), self.key_of(0)), Position::new(partition, after_last));
        let mut records = [Record { ceiling: 0, owner: 0 }; LANES as usize];
        let mut used = 0_u8;
        for found in self.store.scan(&range, limits).await?.records {
            let number = found.key.last().copied().unwrap_or_default();
            let record = records
                .get_mut(usize::from(number))
                .ok_or_else(|| Error::corrupt("a lane has a number that none has"))?;
            *record = decode(Some(&found.value))?;
            used = used.max(number + 1);
        }
        // Lanes that were in use before come first, so that there are no more of them than servers.
        let free = (0..used).find(|number| records[usize::from(*number)].ceiling <= present);
        let fresh = (used < LANES).then_some(used);
        let nearest = || (0..used).min_by_key(|number| records[usize::from(*number)].ceiling).unwrap_or_default();
        let number = free.or(fresh).unwrap_or_else(nearest);
        Ok((number, records[usize::from(number)]))
    }

    fn key_of(&self, number: u8) -> Bytes {
        keys::timestamp_lane_key(self.key, number)
    }
}

/// The keys of all lanes.
pub(super) fn keys_of(ceiling_key: &[u8]) -> Vec<Bytes> {
    (0..LANES).map(|number| keys::timestamp_lane_key(ceiling_key, number)).collect()
}

pub(super) fn encode(record: Record) -> Bytes {
    [record.ceiling.to_be_bytes(), record.owner.to_be_bytes()].concat().into()
}

pub(super) fn decode(bytes: Option<&Bytes>) -> Result<Record> {
    let Some(bytes) = bytes else { return Ok(Record { ceiling: 0, owner: 0 }) };
    let Some((ceiling, owner)) = bytes.split_first_chunk::<8>() else { return Err(corrupt()) };
    let owner = owner.try_into().map_err(|_| corrupt())?;
    Ok(Record { ceiling: super::decode(ceiling)?, owner: u64::from_be_bytes(owner) })
}

fn corrupt() -> Error {
    Error::corrupt("a lane of timestamps is not sixteen bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_share_no_tick() {
        let lanes: Vec<_> = (0..LANES).map(|number| Lane(Some(number))).collect();
        for ticks in [0, 1, 63, 64, 638_000_000_000_000_000] {
            let mut firsts: Vec<_> = lanes.iter().map(|lane| lane.at_or_after(ticks)).collect();
            firsts.sort_unstable();
            assert_eq!(firsts, (ticks..ticks + u64::from(LANES)).collect::<Vec<_>>());
        }
        assert_eq!(Lane::ALL.at_or_after(7), 7);
    }
}
