//! A disk that fails, and files that are not what they were: a clear refusal, never wrong data, and after the cause is
//! gone everything that was acknowledged.

mod damage;
mod damaged;
mod degraded;
mod live;
mod stall;
mod start;
mod turns;

use crate::run::Run;

pub async fn run(run: &Run) -> Result<String, String> {
    let rounds = if run.is_long { 20 } else { 1 };
    let mut faults = 0;
    for round in 0..rounds {
        faults += live::run(run, round).await?;
        faults += start::run(run, round).await?;
    }
    faults += stall::run(run).await.map_err(|why| format!("stall: {why}"))?;
    let turns = turns::run(run).await.map_err(|why| format!("turns: {why}"))?;
    let damages = damaged::run(run).await?;
    Ok(format!("{faults} failing disks, {turns} failing calls, {damages} damaged files"))
}
