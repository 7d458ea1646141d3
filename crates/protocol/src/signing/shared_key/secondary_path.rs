//! Which paths a request to a path-style secondary may have been signed with.

use crate::SECONDARY_SUFFIX;

/// On the path-style secondary (`/acct-secondary/…`) some clients sign the path as they send it and some
/// sign the primary's: these are the primary's. Python's asks for the statistics at `/acct-secondary/acct`
/// and signs only the second part of that.
pub(super) fn paths_on_primary(account: &str, path: &str) -> Vec<String> {
    let below = path.strip_prefix('/').and_then(|path| path.strip_prefix(account));
    match below.and_then(|path| path.strip_prefix(SECONDARY_SUFFIX)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let again = rest.strip_prefix('/').is_some_and(|rest| rest.starts_with(account));
            let mut paths = vec![format!("/{account}{rest}")];
            paths.extend(again.then(|| rest.to_owned()));
            paths
        }
        _ => vec![],
    }
}
