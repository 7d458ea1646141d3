//! Stored access policies that admit a request, and the witness that they still do.

use std::sync::Arc;

use tablerock_kv::{Bytes, Witness};
use tablerock_protocol::xml::StoredAccessPolicies;

use super::Directory;
use crate::Result;

/// Decodes the stored access policies of a row.
pub(crate) type PoliciesOf = fn(&Bytes) -> tablerock_kv::Result<StoredAccessPolicies>;

impl Directory {
    /// Returns the policies of a name, and the witness of a request that the policy with this id admits; `None` if there is no
    /// such name. Other changes of the row do not matter to the witness.
    pub(crate) async fn policies_for(
        &self,
        account: &str,
        name: &str,
        id: &str,
        policies_of: PoliciesOf,
    ) -> Result<Option<(StoredAccessPolicies, Witness)>> {
        let Some(row) = self.row(account, name).await? else { return Ok(None) };
        let policies = policies_of(&row)?;
        let (judged, id) = (policies.find(id).cloned(), id.to_owned());
        let admits = move |row: Option<&[u8]>| {
            let now = row.map(|row| policies_of(&Bytes::copy_from_slice(row)));
            now.and_then(Result::ok).is_some_and(|now| now.find(&id) == judged.as_ref())
        };
        let (partition, key) = self.row_at(account, name);
        Ok(Some((policies, Witness { partition, key, admits: Arc::new(admits) })))
    }
}
