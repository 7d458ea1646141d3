//! Servers that share a database, and the control of all these processes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use tablerock_testkit::test_database::TestDatabase;

use crate::client::{Client, FailureMonitor};
use crate::run::{DataDirectory, Run};
use crate::server::{Program, Server};

pub(super) const SERVERS: usize = 3;
const PORTS_PER_SERVER: u16 = 4;
/// The limit for a server to reconnect to the database.
const RECOVERY_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
/// Counts the statements of killed servers, and statements whose servers have timed out.
const RUNNING_STATEMENTS: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE application_name = 'tablerock' AND state <> 'idle' AND pid <> pg_backend_pid()";

pub(super) struct Cluster {
    database: TestDatabase,
    programs: Vec<Program>,
    /// `None` for a server that does not run.
    servers: Vec<Option<Server>>,
    /// One for the clients of each server.
    monitors: Vec<Arc<FailureMonitor>>,
    /// The servers that were killed since the last `take_violations`.
    killed: BTreeSet<usize>,
    /// The servers log next to it.
    pub(super) directory: DataDirectory,
}

impl Cluster {
    /// Starts the database and all servers, on an empty store.
    pub(super) async fn start(run: &Run, name: &str) -> Result<Self, String> {
        let directory = DataDirectory::create(run, name)?;
        let database = tokio::task::block_in_place(|| TestDatabase::at(run.store.as_deref()));
        let url = tokio::task::block_in_place(|| database.url("crash"));
        let port = |number: usize| run.more_ports + PORTS_PER_SERVER * u16::try_from(number).expect("there are three");
        let programs = (0..SERVERS).map(|number| run.program.on_database(&url, port(number))).collect();
        let servers = (0..SERVERS).map(|_| None).collect();
        let monitors = (0..SERVERS).map(|_| Arc::default()).collect();
        let mut cluster = Self { database, programs, servers, monitors, killed: BTreeSet::new(), directory };
        cluster.start_missing().await?;
        Ok(cluster)
    }

    /// A client of one of the servers, whether it runs or not.
    pub(super) fn client(&self, number: usize) -> Client {
        let number = number % SERVERS;
        Client::new(self.programs[number].target()).with_monitor(self.monitors[number].clone())
    }

    pub(super) fn any_client(&self, rng: &mut Rng) -> Client {
        self.client(rng.usize(0..SERVERS))
    }

    /// `kill -9` of one server.
    pub(super) fn kill(&mut self, number: usize) {
        self.killed.insert(number % SERVERS);
        self.servers[number % SERVERS].take().into_iter().for_each(Server::kill);
    }

    /// Stops one server where it is, or lets it continue. Its requests in progress get their responses after that.
    pub(super) fn freeze(&self, number: usize, is_frozen: bool) {
        self.servers[number % SERVERS].iter().for_each(|server| server.freeze(is_frozen));
    }

    /// Takes the error responses that are not allowed, and the requests without a response from servers that were not killed.
    pub(super) fn take_violations(&mut self) -> Vec<String> {
        let mut violations = vec![];
        for (number, monitor) in self.monitors.iter().enumerate() {
            let improper = monitor.take_improper().into_iter();
            violations.extend(improper.map(|error| format!("server {number}: improper error: {error}")));
            let unanswered = monitor.take_unanswered().into_iter().filter(|_| !self.killed.contains(&number));
            violations.extend(unanswered.map(|request| format!("server {number}: no response: {request}")));
        }
        self.killed.clear();
        violations
    }

    /// Kills the database and starts it again after a time, unless it was there before the run.
    pub(super) async fn restart_database(&self, down_time: Duration) {
        let Some(server) = self.database.server() else { return };
        tokio::task::block_in_place(|| server.kill());
        tokio::time::sleep(down_time).await;
        tokio::task::block_in_place(|| server.resume());
    }

    /// Runs a statement that sweeps a part of what was dropped, on a database that the run started.
    pub(super) fn sweep_some(&self, sql: &str) {
        if self.owns_database() {
            tokio::task::block_in_place(|| self.database.run(sql));
        }
    }

    /// Whether the database may be killed: the run started it.
    pub(super) fn owns_database(&self) -> bool {
        self.database.server().is_some()
    }

    /// Starts the servers that do not run, and waits until all are healthy. Running servers are not restarted, even if their
    /// database was.
    pub(super) async fn start_missing(&mut self) -> Result<(), String> {
        for (program, server) in self.programs.iter().zip(&mut self.servers) {
            if server.is_none() {
                *server = Some(Server::spawn(program, &self.directory.location, None)?);
            }
        }
        for server in &mut self.servers {
            let started = server.take().expect("all were started").ready().await.map_err(|error| error.to_string())?;
            *server = Some(healthy(started).await?);
        }
        Ok(())
    }

    /// Waits until the database runs no statement of a killed server. From then on, unknown outcomes do not change.
    pub(super) async fn wait_until_idle(&self) -> Result<(), String> {
        let started = Instant::now();
        while started.elapsed() < RECOVERY_LIMIT {
            let running = tokio::task::block_in_place(|| self.database.run(RUNNING_STATEMENTS));
            if running.trim() == "0" {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
        Err("the database does not become idle".to_owned())
    }

    /// Stops all servers and removes the logs.
    pub(super) async fn stop(mut self) -> Result<(), String> {
        for server in self.servers.drain(..).flatten() {
            server.stop().await?;
        }
        self.directory.clean_up();
        Ok(())
    }
}

async fn healthy(server: Server) -> Result<Server, String> {
    let started = Instant::now();
    loop {
        let health = server.health().await;
        if matches!(health, Ok((200, _))) {
            return Ok(server);
        }
        if started.elapsed() > RECOVERY_LIMIT {
            return Err(format!("a server does not reconnect to the database: {health:?}"));
        }
        tokio::time::sleep(POLL).await;
    }
}
