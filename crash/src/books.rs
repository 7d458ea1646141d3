//! What must be there in all services, at one moment or at every moment of a recording.

use crate::blobs::{self, BlobLedger, ObservedBlobs};
use crate::client::Client;
use crate::crew;
use crate::history::{History, LogLength};
use crate::ledger::Ledger;
use crate::messages::{Given, MessageLog};
use crate::observed::Observed;

/// What everyone knows at one moment.
#[derive(Debug, Clone, Default)]
pub struct Books {
    pub tables: Vec<Ledger>,
    pub messages: MessageLog,
    pub blobs: Vec<BlobLedger>,
}

/// What everyone did.
#[derive(Debug, Default)]
pub struct Histories {
    pub tables: Vec<History>,
    pub messages: MessageLog,
    pub blobs: Vec<History<BlobLedger>>,
}

impl Histories {
    /// What had to be there when the layer's record was this long.
    pub fn books_at(&self, position: u64) -> Result<Books, String> {
        Ok(Books {
            tables: self.tables.iter().map(|history| history.book_at(position)).collect::<Result<_, String>>()?,
            messages: self.messages.at(position),
            blobs: self.blobs.iter().map(|history| history.book_at(position)).collect::<Result<_, String>>()?,
        })
    }
}

impl Books {
    /// Compares everything with what a server shows, and settles what was open. Gives the messages that are there, which
    /// are invisible then for a while, and tells what is wrong.
    pub async fn settle(
        &mut self,
        client: &mut Client,
        log: Option<&LogLength>,
    ) -> Result<(Vec<Given>, Vec<String>), String> {
        let observed = Observed::read(client).await?;
        let mut violations = crew::settle_all(&mut self.tables.iter_mut().collect::<Vec<_>>(), &observed).1;
        let observed = ObservedBlobs::read(client).await?;
        violations.extend(blobs::settle_all(&mut self.blobs.iter_mut().collect::<Vec<_>>(), &observed).1);
        let (given, wrong) = self.messages.drain(client, log).await?;
        violations.extend(wrong);
        Ok((given, violations))
    }
}
