//! The limit on connections, which all services share.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::memory_budget::network;

/// The connections of all services together.
#[derive(Debug, Clone)]
pub struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    permits: Arc<Semaphore>,
    /// An address may have three quarters, so that it cannot lock out the others.
    per_address_max: usize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    shared: Arc<Shared>,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    /// A limit of `connections_max` in all.
    pub fn new(connections_max: usize) -> Self {
        let per_address_max = connections_max.saturating_sub(connections_max / 4).max(1);
        let permits = Arc::new(Semaphore::new(connections_max));
        Self(Arc::new(Shared { permits, per_address_max, by_address: Mutex::default() }))
    }

    /// Waits for room for one more connection.
    pub(crate) async fn room(&self) -> OwnedSemaphorePermit {
        self.0.permits.clone().acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Counts a connection from an address; `None` if the address has too many.
    pub(crate) fn admit(&self, permit: OwnedSemaphorePermit, address: IpAddr) -> Option<ConnectionPermit> {
        let address = network(address);
        let mut by_address = self.0.lock();
        let count = by_address.entry(address).or_default();
        if *count >= self.0.per_address_max {
            return None;
        }
        *count += 1;
        drop(by_address);
        Some(ConnectionPermit { shared: self.0.clone(), address, _permit: permit })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut by_address = self.shared.lock();
        if let Some(count) = by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_leaves_a_quarter_to_the_others() {
        let connections = Connections::new(8);
        let (hog, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut held = Vec::new();
        for _ in 0..6 {
            held.push(connections.admit(connections.room().await, hog).unwrap());
        }
        assert!(connections.admit(connections.room().await, hog).is_none());
        held.push(connections.admit(connections.room().await, other).unwrap());
        held.clear();
        assert!(connections.0.lock().is_empty());
        assert_eq!(connections.0.permits.available_permits(), 8);
    }
}
