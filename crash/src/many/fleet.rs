//! Servers that share a database, and what can be done to all of them.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::postgres::DatabaseServer;
use crate::client::{Client, ClockOffset};
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
        let mut fleet = Self { database, programs, servers, clock: ClockOffset::default(), place };
        fleet.revive().await?;
        Ok(fleet)
    }

    /// A client of one of the servers, whether it runs or not.
    pub(super) fn client(&self, number: usize) -> Client {
        Client::new(self.programs[number % SERVERS].target(), self.clock.clone())
    }

    pub(super) fn any_client(&self, rng: &mut Rng) -> Client {
        self.client(rng.usize(0..SERVERS))
    }

    /// `kill -9` of one server.
    pub(super) fn kill(&mut self, number: usize) {
        self.servers[number % SERVERS].take().into_iter().for_each(Server::kill);
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
