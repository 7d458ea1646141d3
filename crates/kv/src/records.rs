//! Reading a whole range, page by page.

use crate::{Range, Record, Result, ScanLimits, Store};

/// A cursor over the records of a range; see [`Store::records`]. It holds one page in memory.
#[derive(Debug)]
pub struct Records<'s> {
    store: &'s Store,
    limits: ScanLimits,
    page: std::vec::IntoIter<Record>,
    /// The part of the range that has not been read.
    rest: Option<Range>,
}

impl<'s> Records<'s> {
    pub(crate) fn new(store: &'s Store, range: Range, limits: ScanLimits) -> Self {
        let rest = Some(range).filter(|range| !range.is_empty());
        Self { store, limits, page: Vec::new().into_iter(), rest }
    }

    /// Returns the next record; `None` at the end of the range.
    pub async fn next(&mut self) -> Result<Option<Record>> {
        loop {
            if let Some(record) = self.page.next() {
                return Ok(Some(record));
            }
            match self.next_page().await? {
                Some(page) => self.page = page.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// Returns the next page, which may be empty; `None` at the end of the range. Not to be mixed with
    /// [`next`](Self::next).
    pub async fn next_page(&mut self) -> Result<Option<Vec<Record>>> {
        let Some(range) = &mut self.rest else { return Ok(None) };
        let page = self.store.scan(range, self.limits).await?;
        match page.next {
            Some(next) => range.start = next,
            None => self.rest = None,
        }
        Ok(Some(page.records))
    }

    /// Whether the last page has been read.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_none()
    }
}
