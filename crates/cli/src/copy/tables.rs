//! Copies tables over HTTP: every entity with its exact types, page by page, then the stored access policies.

use tablerock_client::table::ServicePropertiesUpdate;
use tablerock_client::{Entity, TableOperation, TableServiceClient, TryStreamExt as _};

use super::copy_error::CopyError;
use super::resume_file::CopyItem;
use super::wire::Transfer;

impl Transfer<'_> {
    /// Copies all tables, then the service properties, so that the target does not log the copy itself.
    pub(super) async fn copy_tables(&mut self) {
        let (from, to) = match (&self.from.tables, &self.to.tables) {
            (Ok(from), Ok(to)) => (from.clone(), to.clone()),
            (Err(message), _) | (_, Err(message)) => return self.report.note(format!("tables: {message}")),
        };
        let mut names = from.list_tables().stream();
        loop {
            match names.try_next().await {
                Ok(Some(name)) => {
                    let item = CopyItem::Table(name.clone());
                    let copied = self.copy_table(&from, &to, &name, &item).await;
                    self.report.outcome(&format!("table {name}"), copied);
                }
                Ok(None) => break,
                Err(error) => return self.report.fail("tables", &CopyError::of_call("cannot be listed", &error)),
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
        item: &CopyItem,
    ) -> Result<(), CopyError> {
        let status = self.resume_file.status(item);
        if status.is_done {
            return Ok(());
        }
        let (from, to) = (from.table(name), to.table(name));
        to.create_if_not_exists().await.map_err(|error| CopyError::of_call("cannot be created", &error))?;
        let (mut next, mut counts) = (status.next, status.counts);
        loop {
            let page = from.query::<Entity>().page(next.as_ref()).await;
            let page = page.map_err(|error| CopyError::of_call("cannot be read", &error))?;
            // Repeating a page is harmless: it replaces entities by equal ones.
            let written = to.bulk(page.items.iter().map(TableOperation::insert_or_replace)).await.into_result();
            written.map_err(|error| CopyError::of_call("cannot be written", &error))?;
            counts.entities += page.items.len() as u64;
            next = page.continuation_token;
            let Some(next) = &next else { break };
            self.resume_file.page(item, next.clone(), counts)?;
            self.print_progress();
        }
        if self.with_policies {
            let policies = from.get_access_policies().await;
            let policies = policies.map_err(|error| CopyError::of_call("policies cannot be read", &error))?;
            let set = to.set_access_policies(&policies).await;
            set.map_err(|error| CopyError::of_call("policies cannot be set", &error))?;
        }
        self.resume_file.done(item, counts)?;
        self.print_progress();
        Ok(())
    }
}

async fn copy_properties(from: &TableServiceClient, to: &TableServiceClient) -> Result<(), CopyError> {
    let read = from.get_properties().await.map_err(|error| CopyError::of_call("cannot be read", &error))?;
    let update = ServicePropertiesUpdate {
        logging: Some(read.logging),
        hour_metrics: Some(read.hour_metrics),
        minute_metrics: Some(read.minute_metrics),
        cors: Some(read.cors),
        ..ServicePropertiesUpdate::default()
    };
    to.set_properties(&update).await.map_err(|error| CopyError::of_call("cannot be set", &error))
}
