//! Servers that share a database, and what can be done to all of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::postgres::DatabaseServer;
use crate::client::{Client, ClockOffset, Witness};
use crate::run::{Place, Run};
use crate::server::{Program, Server};

pub(super) const SERVERS: usize = 3;
const PORTS_OF_EACH: u16 = 4;
/// Within this, a server has found the database again by itself.
const RECOVERY_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
/// Statements of servers that are gone, or gave up waiting for them.
const UNDER_WAY: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()";

pub(super) struct Fleet {
    database: DatabaseServer,
    programs: Vec<Program>,
    /// Those that are not running are `None`.
    servers: Vec<Option<Server>>,
    /// What the clients of each saw of its failures.
    witnesses: Vec<Arc<Witness>>,
    /// Those that were killed since somebody asked.
    killed: BTreeSet<usize>,
    clock: ClockOffset,
    /// Of what the servers logged.
    pub(super) place: Place,
}

impl Fleet {
    /// Starts the database and all servers at once, on an empty store.
    pub(super) async fn start(run: &Run, name: &str) -> Result<Self, String> {
        let place = Place::make(run, name)?;
        let database = tokio::task::block_in_place(DatabaseServer::start);
        let url = tokio::task::block_in_place(|| database.url("crash"));
        let port = |number: usize| run.more_ports + PORTS_OF_EACH * u16::try_from(number).expect("there are three");
        let programs = (0..SERVERS).map(|number| run.program.on_database(&url, port(number))).collect();
        let servers = (0..SERVERS).map(|_| None).collect();
        let witnesses = (0..SERVERS).map(|_| Arc::default()).collect();
        let (killed, clock) = (BTreeSet::new(), ClockOffset::default());
        let mut fleet = Self { database, programs, servers, witnesses, killed, clock, place };
        fleet.revive().await?;
        Ok(fleet)
    }

    /// A client of one of the servers, whether it runs or not.
    pub(super) fn client(&self, number: usize) -> Client {
        let number = number % SERVERS;
        Client::new(self.programs[number].target(), self.clock.clone()).with_witness(self.witnesses[number].clone())
    }

    pub(super) fn any_client(&self, rng: &mut Rng) -> Client {
        self.client(rng.usize(0..SERVERS))
    }

    /// `kill -9` of one server.
    pub(super) fn kill(&mut self, number: usize) {
        self.killed.insert(number % SERVERS);
        self.servers[number % SERVERS].take().into_iter().for_each(Server::kill);
    }

    /// What clients saw since the last time that they should not have: a failure that was told badly or too late, and no
    /// answer at all from a server that was alive all the time.
    pub(super) fn take_complaints(&mut self) -> Vec<String> {
        let mut complaints = vec![];
        for (number, witness) in self.witnesses.iter().enumerate() {
            let improper =
                witness.take_improper().into_iter().map(|what| format!("server {number} failed badly: {what}"));
            complaints.extend(improper);
            let lost = witness.take_lost().into_iter().map(|what| format!("server {number} did not answer: {what}"));
            complaints.extend(lost.filter(|_| !self.killed.contains(&number)));
        }
        self.killed.clear();
        complaints
    }

    /// Ends the database in the middle of everything, and starts it again after a while.
    pub(super) async fn restart_database(&self, away: Duration) {
        tokio::task::block_in_place(|| self.database.kill());
        tokio::time::sleep(away).await;
        tokio::task::block_in_place(|| self.database.resume());
    }

    /// Starts the servers that are not running, and waits until all are healthy. Those that run are left alone, whatever was
    /// done to their database.
    pub(super) async fn revive(&mut self) -> Result<(), String> {
        for (program, server) in self.programs.iter().zip(&mut self.servers) {
            if server.is_none() {
                *server = Some(Server::spawn(program, &self.place.location, None)?);
            }
        }
        for server in &mut self.servers {
            let started =
                server.take().expect("all were started").ready().await.map_err(|refusal| refusal.to_string())?;
            *server = Some(healthy(started).await?);
        }
        Ok(())
    }

    /// Waits until the database does nothing any more for servers that are gone. From then on, what has not happened
    /// will not.
    pub(super) async fn settle(&self) -> Result<(), String> {
        let started = Instant::now();
        while started.elapsed() < RECOVERY_LIMIT {
            let under_way = tokio::task::block_in_place(|| self.database.run(UNDER_WAY));
            if under_way.trim() == "0" {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
        Err("the database does not come to rest".to_owned())
    }

    /// Ends everything in order, and removes what nobody needs to look at.
    pub(super) async fn stop(mut self) -> Result<(), String> {
        for server in self.servers.drain(..).flatten() {
            server.stop().await?;
        }
        self.place.clean_up();
        Ok(())
    }
}

async fn healthy(server: Server) -> Result<Server, String> {
    let started = Instant::now();
    loop {
        let said = server.health().await;
        if matches!(said, Ok((200, _))) {
            return Ok(server);
        }
        if started.elapsed() > RECOVERY_LIMIT {
            return Err(format!("a server does not find the database again: {said:?}"));
        }
        tokio::time::sleep(POLL).await;
    }
}
