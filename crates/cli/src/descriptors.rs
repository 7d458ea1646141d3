//! File descriptors: each connection takes one, and so does each open file of the store.

/// Descriptors that connections leave to the store, the log and the admin address.
const RESERVED: u64 = 1024;

/// Raises the limit of this process as far as the system allows, and returns how many connections fit below it.
///
/// Without that, strangers who open connections could leave the store without descriptors for its own files.
pub(crate) fn connections_max(wanted: usize) -> usize {
    let Some(descriptors) = raise_limit() else { return wanted };
    let left = usize::try_from(fitting(descriptors)).unwrap_or(usize::MAX);
    if left < wanted {
        tracing::info!(
            descriptors,
            wanted,
            connections = left,
            "fewer connections than configured, because of the limit on file descriptors"
        );
    }
    wanted.min(left)
}

/// The connections below a limit: all but the reserved descriptors, and half of a small limit.
fn fitting(descriptors: u64) -> u64 {
    descriptors.saturating_sub(RESERVED).max(descriptors / 2).max(1)
}

#[cfg(unix)]
fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    // Some systems report a maximum that they do not grant.
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

#[cfg(not(unix))]
fn raise_limit() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_keeps_its_descriptors() {
        assert_eq!(fitting(1_048_576), 1_048_576 - RESERVED);
        assert_eq!(fitting(1024), 512);
        assert_eq!(fitting(1536), 768);
        assert_eq!(fitting(256), 128);
        assert_eq!(fitting(0), 1);
    }
}
