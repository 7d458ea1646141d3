//! Failing disks and damaged files: the server must report a clear error, never return wrong data, and serve everything
//! that was acknowledged after the fault is repaired.

mod at_start;
mod damage;
mod damaged_files;
mod degraded;
mod each_call;
mod stalled_sync;
mod under_load;

use crate::run::Run;

pub async fn run(run: &Run) -> Result<String, String> {
    let rounds = if run.is_long { 20 } else { 1 };
    let mut faults = 0;
    for round in 0..rounds {
        faults += under_load::run(run, round).await?;
        faults += at_start::run(run, round).await?;
    }
    faults += stalled_sync::run(run).await.map_err(|why| format!("stalled sync: {why}"))?;
    let calls = each_call::run(run).await.map_err(|why| format!("each call: {why}"))?;
    let damages = damaged_files::run(run).await?;
    Ok(format!("{faults} failing disks, {calls} failing calls, {damages} damaged files"))
}
