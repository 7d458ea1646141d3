//! Who holds how much of the budget, and who waits for more.
//!
//! A client gets memory only if as much stays free as the client then holds (dynamic thresholds, Choudhury and Hahne). A
//! single client thus gets half of the budget, two get a third each, and a client that holds nothing always finds some.
//! No address and no account gets more than three quarters, however many clients they look like, and an eighth more for
//! those of their clients that hold little.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::permit::MemoryPermit;

/// Requests of one client that wait at the same time. More are rejected at once.
const WAITING_MAX: usize = 1024;

/// The part of the budget up to which a client holds little. Without a place for such clients, two behind a proxy could lock
/// out a third.
const SMALL_SHARE: usize = 16;

/// Clients that stay in the table while they hold nothing, because they will come again.
const CLIENTS_KEPT: usize = 1024;

/// A client: its address and the account that its request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    /// Of an IPv6 address, only the network: a client has all addresses of a /64.
    address: IpAddr,
    /// The hash of the account's name, 0 before it is known.
    account: u64,
}

impl Holder {
    pub(super) fn new(address: IpAddr, account: Option<&str>) -> Self {
        let account = account.map_or(0, |name| {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            hasher.finish()
        });
        Self { address: network(address), account }
    }
}

/// The part of an address that belongs to one client.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => IpAddr::from((u128::from(v6) & !u128::from(u64::MAX)).to_be_bytes()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[derive(Debug)]
pub(super) struct Ledger {
    total: usize,
    shares: Mutex<Shares>,
}

#[derive(Debug)]
struct Shares {
    free: usize,
    clients: HashMap<Holder, Client>,
    /// Requests of all clients that wait.
    waiting: usize,
}

#[derive(Debug, Default)]
struct Client {
    held: usize,
    waiting: VecDeque<Waiter>,
}

impl Client {
    fn is_unused(&self) -> bool {
        self.held == 0 && self.waiting.is_empty()
    }
}

#[derive(Debug)]
struct Waiter {
    bytes: usize,
    granted: oneshot::Sender<MemoryPermit>,
}

impl Ledger {
    pub(super) fn new(total: usize) -> Self {
        Self { total, shares: Mutex::new(Shares { free: total, clients: HashMap::new(), waiting: 0 }) }
    }

    /// Takes memory if the client's share allows it and none of its requests waits.
    pub(super) fn take_now(self: &Arc<Self>, holder: Holder, bytes: usize) -> Option<MemoryPermit> {
        let mut shares = self.lock();
        let is_first = shares.clients.get(&holder).is_none_or(|client| client.waiting.is_empty());
        (is_first && shares.grant(self.total, holder, bytes)).then(|| self.permit(holder, bytes))
    }

    /// Waits up to `time` for memory.
    pub(super) async fn take(self: &Arc<Self>, holder: Holder, bytes: usize, time: Duration) -> Option<MemoryPermit> {
        if let Some(permit) = self.take_now(holder, bytes) {
            return Some(permit);
        }
        let receiver = self.wait(holder, bytes)?;
        // A permit that arrives after the timeout is dropped with the receiver.
        let granted = tokio::time::timeout(time, receiver).await;
        granted.ok()?.ok()
    }

    fn wait(&self, holder: Holder, bytes: usize) -> Option<oneshot::Receiver<MemoryPermit>> {
        let mut shares = self.lock();
        let waiting = &mut shares.clients.entry(holder).or_default().waiting;
        let before = waiting.len();
        if before >= WAITING_MAX {
            waiting.retain(|waiter| !waiter.granted.is_closed());
        }
        let given_up = before - waiting.len();
        if waiting.len() >= WAITING_MAX {
            return None;
        }
        let (granted, receiver) = oneshot::channel();
        waiting.push_back(Waiter { bytes, granted });
        shares.waiting = shares.waiting - given_up + 1;
        Some(receiver)
    }

    pub(super) fn give_back(self: &Arc<Self>, holder: Holder, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut shares = self.lock();
        shares.give_back(holder, bytes);
        let granted = if shares.waiting == 0 { Vec::new() } else { shares.serve_waiting(self.total) };
        drop(shares);
        for (waiter, holder) in granted {
            // If the receiver is gone, the permit comes back and its drop takes the lock again.
            let _ = waiter.granted.send(self.permit(holder, waiter.bytes));
        }
    }

    fn permit(self: &Arc<Self>, holder: Holder, bytes: usize) -> MemoryPermit {
        MemoryPermit::new(self.clone(), holder, bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shares {
    /// Books the memory if the shares allow it.
    fn grant(&mut self, total: usize, holder: Holder, bytes: usize) -> bool {
        let Some(left) = self.free.checked_sub(bytes) else { return false };
        let held = self.clients.get(&holder).map_or(0, |client| client.held);
        // Of the last quarter, half is for clients of this address or account that hold little.
        let kept = if held + bytes <= total / SMALL_SHARE { total / 8 } else { total / 4 };
        let of_others = left < total / 4 && !self.leaves(kept, total, holder, bytes);
        if of_others || held + bytes > left {
            return false;
        }
        self.clients.entry(holder).or_default().held += bytes;
        self.free = left;
        true
    }

    /// Whether the address and the account of a client leave this much to others. That is a question only when three
    /// quarters are in use.
    fn leaves(&self, kept: usize, total: usize, holder: Holder, bytes: usize) -> bool {
        let sum = |of: fn(&Holder) -> (Option<IpAddr>, Option<u64>)| {
            let same = self.clients.iter().filter(|(other, _)| of(other) == of(&holder));
            same.map(|(_, client)| client.held).sum::<usize>() + bytes
        };
        let most = total - kept;
        sum(|holder| (Some(holder.address), None)) <= most && sum(|holder| (None, Some(holder.account))) <= most
    }

    fn give_back(&mut self, holder: Holder, bytes: usize) {
        self.free += bytes;
        if let Some(client) = self.clients.get_mut(&holder) {
            client.held -= bytes;
            if client.is_unused() && self.clients.len() > CLIENTS_KEPT {
                self.clients.remove(&holder);
            }
        }
    }

    /// Books memory for the waiting requests that may have it now, the first of each client first.
    fn serve_waiting(&mut self, total: usize) -> Vec<(Waiter, Holder)> {
        let mut granted = Vec::new();
        let waiting: Vec<Holder> =
            self.clients.iter().filter(|(_, client)| !client.waiting.is_empty()).map(|(holder, _)| *holder).collect();
        for holder in waiting {
            while let Some(waiter) = self.clients.get_mut(&holder).and_then(|client| client.waiting.pop_front()) {
                self.waiting -= 1;
                if waiter.granted.is_closed() {
                    continue;
                }
                if !self.grant(total, holder, waiter.bytes) {
                    if let Some(client) = self.clients.get_mut(&holder) {
                        client.waiting.push_front(waiter);
                        self.waiting += 1;
                    }
                    break;
                }
                granted.push((waiter, holder));
            }
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: usize = 1000;

    fn ledger() -> Arc<Ledger> {
        Arc::new(Ledger::new(TOTAL))
    }

    fn client(last: u8, account: &str) -> Holder {
        Holder::new(IpAddr::from([10, 0, 0, last]), Some(account))
    }

    /// Takes memory in pieces of ten until the share is used up.
    fn fill(ledger: &Arc<Ledger>, holder: Holder) -> Vec<MemoryPermit> {
        std::iter::from_fn(|| ledger.take_now(holder, 10)).collect()
    }

    #[test]
    fn one_client_gets_half_and_the_next_half_of_the_rest() {
        let ledger = ledger();
        let first = fill(&ledger, client(1, "a"));
        let second = fill(&ledger, client(2, "b"));
        assert_eq!((first.len(), second.len()), (50, 25));
        assert_eq!(fill(&ledger, client(1, "b")).len(), 12, "another account at the same address");
        assert_eq!(fill(&ledger, client(2, "a")).len(), 12, "the same account at another address");
    }

    #[test]
    fn an_account_gets_three_quarters_from_however_many_addresses() {
        let ledger = ledger();
        let held: Vec<_> = (0..100).flat_map(|last| fill(&ledger, client(last, "a"))).collect();
        assert!((75..=87).contains(&held.len()), "{}", held.len());
        assert!(fill(&ledger, client(7, "b")).len() >= 6);
        drop(held);
        let held: Vec<_> = (0..100).flat_map(|name| fill(&ledger, client(1, &format!("a{name}")))).collect();
        assert!((75..=87).contains(&held.len()), "an address, with however many accounts: {}", held.len());
    }

    #[test]
    fn two_clients_behind_a_proxy_do_not_lock_out_a_third() {
        let ledger = ledger();
        let _held = [fill(&ledger, client(1, "a")), fill(&ledger, client(1, "b"))];
        assert!(!fill(&ledger, client(1, "c")).is_empty());
    }

    #[test]
    fn the_addresses_of_one_network_are_one_client() {
        let of = |address: &str| Holder::new(address.parse().unwrap(), None);
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_requests_get_returned_memory_in_order() {
        let ledger = ledger();
        let (hog, other) = (client(1, "a"), client(2, "b"));
        let mut held = fill(&ledger, hog);
        assert!(ledger.take(hog, 10, Duration::from_secs(1)).await.is_none(), "nothing is returned");
        let waiting = [30, 10].map(|bytes| {
            let ledger = ledger.clone();
            tokio::spawn(
                async move { ledger.take(hog, bytes, Duration::from_secs(60)).await.map(|permit| permit.bytes()) },
            )
        });
        tokio::task::yield_now().await;
        held.truncate(49);
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|waiter| !waiter.is_finished()), "the first is not passed by the second");
        assert!(ledger.take_now(other, 100).is_some(), "another client does not wait");
        held.truncate(40);
        for (waiter, bytes) in waiting.into_iter().zip([30, 10]) {
            assert_eq!(waiter.await.unwrap(), Some(bytes));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_memory_comes_back() {
        let ledger = ledger();
        let holder = client(1, "a");
        let mut permit = ledger.take_now(holder, 400).unwrap();
        permit.absorb(ledger.take_now(holder, 100).unwrap());
        let late = ledger.take(holder, 300, Duration::from_secs(1)).await;
        assert!(late.is_none());
        drop(permit);
        let shares = ledger.lock();
        assert_eq!(shares.free, TOTAL);
        assert!(shares.clients.values().all(Client::is_unused) && shares.waiting == 0);
    }
}
