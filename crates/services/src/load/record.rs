//! The stored load of one server.

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::Service;

use super::shared::PUBLISHED_MAX;
use super::{LoadReport, LoadedHolding, LoadedPartition, Rate};
use crate::fields::{FieldReader, FieldWriter};

/// The size of a record, about.
pub(super) const BYTES_MAX: usize = 64 << 10;
/// The largest entry: two names, a PartitionKey of 1 KiB in UTF-16, and rates.
const ENTRY_BYTES_MAX: usize = 4 << 10;

const FORMAT: u8 = 1;
const MORE: u8 = 1;
const END: u8 = 0;

/// Encodes the time and the hottest of a report, as far as they fit.
pub(super) fn encode(ticks: u64, report: &LoadReport) -> Bytes {
    let mut fields = FieldWriter::new(FORMAT);
    fields.ticks(ticks);
    let mut bytes = 0;
    for (LoadedHolding { service, account, name }, rate) in report.holdings.iter().take(PUBLISHED_MAX) {
        bytes += account.len() + name.len() + 32;
        write(&mut fields, *service, [account, name], rate);
    }
    fields.byte(END);
    for (LoadedPartition { service, account, name, partition }, rate) in report.partitions.iter().take(PUBLISHED_MAX) {
        bytes += account.len() + name.len() + partition.len() + 32;
        if bytes > BYTES_MAX - ENTRY_BYTES_MAX {
            break;
        }
        write(&mut fields, *service, [account, name, partition], rate);
    }
    fields.byte(END);
    fields.finish()
}

fn write<const N: usize>(fields: &mut FieldWriter, service: Service, names: [&str; N], rate: &Rate) {
    fields.byte(MORE);
    fields.byte(match service {
        Service::Table => b't',
        Service::Queue => b'q',
        Service::Blob => b'b',
    });
    names.into_iter().for_each(|name| fields.text(name));
    // Thousandths of an event per second.
    [rate.reads, rate.writes, rate.unseen].into_iter().for_each(|rate| fields.number((rate * 1_000.0) as u64));
}

pub(super) fn decode(record: &Bytes) -> Result<(u64, LoadReport)> {
    let mut fields = FieldReader::new(record, FORMAT, "the load of a server")?;
    let ticks = fields.ticks()?;
    let mut report = LoadReport::default();
    while fields.byte()? == MORE {
        let (service, [account, name], rate) = read(&mut fields)?;
        report.holdings.push((LoadedHolding { service, account, name }, rate));
    }
    while fields.byte()? == MORE {
        let (service, [account, name, partition], rate) = read(&mut fields)?;
        report.partitions.push((LoadedPartition { service, account, name, partition }, rate));
    }
    Ok((ticks, report))
}

fn read<const N: usize>(fields: &mut FieldReader<'_>) -> Result<(Service, [String; N], Rate)> {
    let service = match fields.byte()? {
        b't' => Service::Table,
        b'q' => Service::Queue,
        b'b' => Service::Blob,
        _ => return Err(Error::corrupt("the load of a server names an unknown service")),
    };
    let mut names = [const { String::new() }; N];
    for name in &mut names {
        *name = fields.text()?;
    }
    let [mut reads, mut writes, mut unseen] = [0.0; 3];
    for rate in [&mut reads, &mut writes, &mut unseen] {
        *rate = fields.number()? as f64 / 1_000.0;
    }
    Ok((service, names, Rate { reads, writes, unseen }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_hottest_and_a_bound() {
        let rate = Rate { reads: 12.5, writes: 3.25, unseen: 0.125 };
        let mut report = LoadReport::default();
        for number in 0..200 {
            let (service, account, name) = (Service::Table, "acct".to_owned(), format!("T{number}"));
            report.holdings.push((LoadedHolding { service, account: account.clone(), name: name.clone() }, rate));
            report.partitions.push((LoadedPartition { service, account, name, partition: "k".repeat(3_000) }, rate));
        }
        let record = encode(7, &report);
        assert!(record.len() < BYTES_MAX, "{}", record.len());
        let (ticks, decoded) = decode(&record).unwrap();
        assert_eq!((ticks, decoded.holdings.len()), (7, PUBLISHED_MAX));
        assert_eq!(decoded.holdings[..], report.holdings[..PUBLISHED_MAX]);
        assert!(decoded.partitions.len() > 15);
        assert_eq!(decoded.partitions[0], report.partitions[0]);
        assert!(decode(&record.slice(..record.len() / 2)).is_err());
    }
}
