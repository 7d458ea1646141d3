//! Options of the calls of a table's client, of a query, a transaction and a bulk write.

use std::sync::Arc;
use std::time::Duration;

use super::{Bulk, BulkStream, Query, TableClient, Transaction};
use crate::CallOptions;

impl TableClient {
    /// Returns a client of the table whose calls have these options, unless they have their own. It shares connections
    /// and access tokens.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::Entity;
    /// use std::time::Duration;
    /// use tablerock_client::CallOptions;
    ///
    /// let people = people.with_call_options(CallOptions::new().timeout(Duration::from_secs(2)).request_id("import-17"));
    /// let all = people.query::<Entity>().all().await?;
    /// # assert_eq!(all.len(), 2);
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn with_call_options(&self, options: CallOptions) -> Self {
        Self { pipeline: Arc::new(self.pipeline.with_call_options(options)), ..self.clone() }
    }
}

/// Defines the options of a builder that makes its calls through a client of the table.
macro_rules! call_options {
    ($($builder:ty $(, $generic:ident)?;)*) => {
        $(impl$(<$generic>)? $builder {
            /// Sets the options of each call. See [`CallOptions`].
            pub fn options(mut self, options: CallOptions) -> Self {
                self.table = self.table.with_call_options(options);
                self
            }

            /// Sets the timeout of each call with all its attempts and delays, instead of that of the client.
            #[doc(alias = "deadline")]
            pub fn timeout(self, timeout: Duration) -> Self {
                self.options(CallOptions::new().timeout(timeout))
            }

            /// Sets the client's id of each request, which the service returns and logs.
            #[doc(alias = "client_request_id")]
            pub fn request_id(self, id: impl AsRef<str>) -> Self {
                self.options(CallOptions::new().request_id(id))
            }

            /// Adds a header to each call, which a signature covers.
            pub fn header(self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
                self.options(CallOptions::new().header(name, value))
            }
        })*
    };
}

call_options! {
    Query<R>, R;
    Transaction;
    Bulk;
    BulkStream;
}
