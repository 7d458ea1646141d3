//! Clients that mean no good: the server's memory stays within a bound, and everybody else is still served.

mod attacks;
mod witness;

use std::time::Duration;

use self::attacks::{ATTACKS, Attack};
use self::witness::{Seen, Witness};
use crate::run::{Place, Run};
use crate::server::Server;

/// What the process may have in memory at any time during the attacks, the cache included.
pub const RESIDENT_BYTES_MAX: u64 = 400 << 20;

/// How long somebody else may have to wait for an answer while an attack goes on, on a machine with two cores that the
/// attackers use as well.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(3);

/// How long each attack goes on once all of its connections are there.
fn attack_time(run: &Run) -> Duration {
    Duration::from_secs(if run.is_long { 60 } else { 2 })
}

pub async fn run(run: &Run) -> Result<String, String> {
    let place = Place::make(run, "hostile")?;
    let server = Server::start(&run.program, &place.location, None).await?;
    Witness::of(&server).prepare().await?;
    let mut told = vec![format!("{} MB before", megabytes(resident(&server)?))];
    server.stop().await?;
    for attack in ATTACKS {
        let seen = one(run, &place, attack).await.map_err(|why| format!("{}: {why}", attack.name))?;
        let resident = megabytes(seen.resident_bytes);
        run.tell(&format!("{}: {resident} MB, slowest answer {} ms", attack.name, seen.slowest.as_millis()));
        told.push(format!("{} {resident} MB", attack.name));
    }
    place.clean_up();
    Ok(format!("{}; bound {} MB", told.join(", "), megabytes(RESIDENT_BYTES_MAX)))
}

/// Lets one attack go on for a while, on a server of its own, for memory that was in use once is not always given back.
async fn one(run: &Run, place: &Place, attack: &Attack) -> Result<Seen, String> {
    let mut server = Server::start(&run.program, &place.location, None).await?;
    let attackers = attack.begin(&run.program).await?;
    let seen = Witness::of(&server).watch(&server, attack_time(run)).await?;
    drop(attackers);
    if !server.is_running() {
        return Err("the server has ended".to_owned());
    }
    if seen.resident_bytes > RESIDENT_BYTES_MAX {
        let (is, bound) = (megabytes(seen.resident_bytes), megabytes(RESIDENT_BYTES_MAX));
        return Err(format!("{is} MB in memory, more than {bound}"));
    }
    if seen.slowest > ANSWER_TIME_MAX {
        return Err(format!("others waited {} ms for an answer", seen.slowest.as_millis()));
    }
    server.stop().await?;
    Ok(seen)
}

fn resident(server: &Server) -> Result<u64, String> {
    server.resident_bytes().ok_or_else(|| "the server's memory cannot be measured".to_owned())
}

fn megabytes(bytes: u64) -> u64 {
    bytes >> 20
}
