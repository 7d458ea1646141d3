//! Hostile clients: the server's memory stays within a bound, and other clients are still served.

mod attacks;
pub mod http2;
mod probe;
mod secure;
mod traffic;

use std::time::Duration;

use self::attacks::{ATTACKS, Attack};
use self::probe::{Measurements, Probe};
use crate::run::{DataDirectory, Run};
use crate::server::Server;

/// The bound on resident memory during an attack without its connections: the process, the cache, the write buffers and the
/// memory budget.
const BASE_BYTES_MAX: u64 = 480 << 20;

/// The bound on the memory of one connection, whatever it does.
const CONNECTION_BYTES_MAX: u64 = 43 << 10;

/// The limit for a response to another client during an attack, on a machine with two cores that the attackers use too.
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(3);

/// The duration of each attack after all its connections are open.
fn attack_time(run: &Run) -> Duration {
    Duration::from_secs(if run.is_long { 60 } else { 2 })
}

pub async fn run(run: &Run) -> Result<String, String> {
    let directory = DataDirectory::create(run, "hostile")?;
    let server = directory.start().await?;
    Probe::of(&server).prepare().await?;
    let mut report = vec![format!("{} MB before", megabytes(resident(&server)?))];
    server.stop().await?;
    for attack in ATTACKS {
        let measured = one(run, &directory, attack).await.map_err(|why| format!("{}: {why}", attack.name))?;
        let resident = megabytes(measured.resident_bytes);
        let slowest = measured.slowest.as_millis();
        run.print_step(&format!("{}: {resident} MB, slowest response {slowest} ms", attack.name));
        report.push(format!("{} {resident} MB ({} connections)", attack.name, measured.connections));
    }
    report.push(traffic::run(run, &directory).await.map_err(|why| format!("honest traffic: {why}"))?);
    directory.clean_up();
    report.push(secure::run(run).await.map_err(|why| format!("over TLS: {why}"))?);
    Ok(report.join(", "))
}

/// Runs one attack on a new server, because a process does not always return memory to the system.
async fn one(run: &Run, directory: &DataDirectory, attack: &Attack) -> Result<Measurements, String> {
    let mut server = directory.start().await?;
    let attackers = attack.start(run).await?;
    let connections = attackers.count();
    let measured = Probe::of(&server).measure(&server, attack_time(run)).await?;
    let measured = Measurements { connections, ..measured };
    drop(attackers);
    if !server.is_running() {
        return Err("the server has exited".to_owned());
    }
    let bytes_max = BASE_BYTES_MAX + connections as u64 * CONNECTION_BYTES_MAX;
    if measured.resident_bytes > bytes_max {
        let (resident, bound) = (megabytes(measured.resident_bytes), megabytes(bytes_max));
        return Err(format!("{resident} MB resident with {connections} connections, more than {bound}"));
    }
    if measured.slowest > RESPONSE_TIME_MAX {
        return Err(format!("another client waited {} ms for a response", measured.slowest.as_millis()));
    }
    server.stop().await?;
    Ok(measured)
}

fn resident(server: &Server) -> Result<u64, String> {
    server.resident_bytes().ok_or_else(|| "cannot measure the server's memory".to_owned())
}

fn megabytes(bytes: u64) -> u64 {
    bytes >> 20
}
