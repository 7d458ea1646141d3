//! Proof that the checks can fail: planted losses must all be found.

use std::time::Duration;

use super::{archive, power};
use crate::blobs::BlobOptions;
use crate::run::{DataDirectory, Run};
use crate::tables::TableOptions;
use crate::workload::{Workload, WorkloadOptions};

const LOAD_TIME: Duration = Duration::from_millis(300);

/// The violations that each service must report after a rollback. With few blobs, a rollback past the creation or deletion
/// of one is a matter of chance, but some blobs certainly have other content.
const VIOLATIONS: [(&str, &[&str]); 3] =
    [("tables", &["is gone", "expected"]), ("queues", &["is lost", "is back"]), ("blobs", &["different from byte"])];

/// Plants each loss, and fails if one is not found.
pub async fn run(run: &Run) -> Result<String, String> {
    let rolled_back = rolled_back(run).await?;
    archive::prove(run).await?;
    let planted = rolled_back + 1 + power::prove(run).await?;
    Ok(format!("{planted} of {planted} planted losses found"))
}

fn options() -> WorkloadOptions {
    let blob_options = BlobOptions { large_every: 60, ..BlobOptions::default() };
    WorkloadOptions { tables: 4, queues: 4, blobs: 3, table_options: TableOptions::default(), blob_options }
}

/// Rolls a data directory back to an earlier state between two starts: acknowledged data is lost and deleted data is back.
/// The checks of each service must find that.
async fn rolled_back(run: &Run) -> Result<usize, String> {
    let mut rng = run.rng("rolled back");
    let directory = DataDirectory::create_in_memory(run, "rolled-back")?;
    let mut workload = Workload::new(&options(), &mut rng);
    let mut earlier = None;
    for start in 0..2 {
        let server = directory.start().await?;
        if start == 0 {
            workload.set_up(&mut server.client()).await?;
        }
        let running = workload.start(&server);
        running.run_for(LOAD_TIME).await;
        workload = running.stop().await;
        directory.verify("before the rollback", workload.check(&mut server.client()).await)?;
        server.kill();
        earlier = earlier.or(Some(directory.tree()?));
    }

    let earlier = earlier.ok_or("there is no earlier state")?;
    let directory = DataDirectory::restore(run, "rolled-back", &earlier)?;
    let server = directory.start().await?;
    let mut client = server.client();
    let found = [
        workload.tables.check(&mut client).await,
        workload.queues.drain_and_check(&mut client).await,
        workload.blobs.check(&mut client).await,
    ];
    server.kill();
    directory.clean_up();
    for ((service, texts), violations) in VIOLATIONS.iter().zip(&found) {
        for text in *texts {
            let Some(violation) = violations.iter().find(|violation| violation.contains(text)) else {
                return Err(format!("{service} were rolled back, and \"{text}\" is not in {violations:?}"));
            };
            run.print_step(&format!("rollback of {service} found: {violation}"));
        }
    }
    Ok(found.len())
}
