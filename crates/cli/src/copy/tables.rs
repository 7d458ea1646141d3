//! Tables over the wire: every entity with its exact types, page by page, then the stored access policies.

use tablerock_client::table::ServicePropertiesUpdate;
use tablerock_client::{Entity, TableOperation, TableServiceClient, TryStreamExt as _};

use super::failure::Failure;
use super::ledger::Holding;
use super::wire::Transfer;

impl Transfer<'_> {
    /// All tables, and then the settings of the service: metrics and logs are of the account's traffic, not of ours.
    pub(super) async fn copy_tables(&mut self) {
        let (from, to) = match (&self.from.tables, &self.to.tables) {
            (Ok(from), Ok(to)) => (from.clone(), to.clone()),
            (Err(why), _) | (_, Err(why)) => return self.report.note(format!("tables: {why}")),
        };
        let mut names = from.list_tables().stream();
        loop {
            match names.try_next().await {
                Ok(Some(name)) => {
                    let holding = Holding::Table(name.clone());
                    let copied = self.copy_table(&from, &to, &name, &holding).await;
                    self.report.outcome(&format!("table {name}"), copied);
                }
                Ok(None) => break,
                Err(error) => return self.report.fail("tables", &Failure::of_call("cannot be listed", &error)),
            }
        }
        let copied = copy_properties(&from, &to).await;
        self.report.outcome("settings of the Table service", copied);
    }

    async fn copy_table(
        &mut self,
        from: &TableServiceClient,
        to: &TableServiceClient,
        name: &str,
        holding: &Holding,
    ) -> Result<(), Failure> {
        let status = self.ledger.status(holding);
        if status.is_done {
            return Ok(());
        }
        let (from, to) = (from.table(name), to.table(name));
        to.create_if_not_exists().await.map_err(|error| Failure::of_call("cannot be created", &error))?;
        let (mut next, mut tally) = (status.next, status.tally);
        loop {
            let page = from.query::<Entity>().page(next.as_ref()).await;
            let page = page.map_err(|error| Failure::of_call("cannot be read", &error))?;
            // To do it twice is harmless: whatever is there is replaced by the same.
            let written = to.bulk(page.items.iter().map(TableOperation::insert_or_replace)).await.into_result();
            written.map_err(|error| Failure::of_call("cannot be written", &error))?;
            tally.entities += page.items.len() as u64;
            next = page.continuation_token;
            let Some(next) = &next else { break };
            self.ledger.page(holding, next.clone(), tally)?;
            self.tell();
        }
        if self.with_policies {
            let policies = from.get_access_policies().await;
            let policies = policies.map_err(|error| Failure::of_call("policies cannot be read", &error))?;
            let set = to.set_access_policies(&policies).await;
            set.map_err(|error| Failure::of_call("policies cannot be set", &error))?;
        }
        self.ledger.done(holding, tally)?;
        self.tell();
        Ok(())
    }
}

async fn copy_properties(from: &TableServiceClient, to: &TableServiceClient) -> Result<(), Failure> {
    let read = from.get_properties().await.map_err(|error| Failure::of_call("cannot be read", &error))?;
    let update = ServicePropertiesUpdate {
        logging: Some(read.logging),
        hour_metrics: Some(read.hour_metrics),
        minute_metrics: Some(read.minute_metrics),
        cors: Some(read.cors),
        ..ServicePropertiesUpdate::default()
    };
    to.set_properties(&update).await.map_err(|error| Failure::of_call("cannot be set", &error))
}
