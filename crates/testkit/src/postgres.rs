//! A real PostgreSQL for tests: a cluster in a temporary directory, which is removed with it.
//!
//! The programs are searched in `TABLEROCK_POSTGRES_BIN`, in the search path and in the folders of Debian's package.
//! PostgreSQL does not run as root, so root starts it as the user `postgres`, or `nobody` where there is none.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The variable that names the directory of `initdb` and `pg_ctl`.
const BIN_VARIABLE: &str = "TABLEROCK_POSTGRES_BIN";
/// Where Debian's packages have a directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
const READY_WITHIN: Duration = Duration::from_secs(60);

/// A running database server.
#[derive(Debug)]
pub struct DatabaseServer {
    bin: PathBuf,
    directory: PathBuf,
    port: u16,
    /// Settings in addition to those of every test.
    settings: String,
    /// Cleans up when its standard input closes, which happens however this process ends: statics are never dropped.
    watch: Option<Child>,
}

impl DatabaseServer {
    /// Starts a new cluster without syncs: tests kill processes and never the machine.
    pub fn start() -> Self {
        Self::start_with(|_| String::new())
    }

    /// Starts one that syncs every commit, for measurements.
    pub fn start_durable() -> Self {
        Self::start_with(|_| "-c fsync=on -c shared_buffers=512MB".to_owned())
    }

    /// Starts one that accepts only TLS, with this certificate and key (PEM).
    pub fn start_encrypted(certificate: &str, key: &str) -> Self {
        Self::start_with(|server| {
            let place = |name: &str| server.directory.join(name);
            for (name, text) in [("server.crt", certificate), ("server.key", key)] {
                std::fs::write(place(name), text).expect("the directory is ours");
                succeed(Command::new("chmod").arg("600").arg(place(name)));
                server.give_away(&place(name));
            }
            std::fs::write(place("hba"), "hostssl all all all trust\n").expect("the directory is ours");
            server.give_away(&place("hba"));
            let [certificate, key, hba] =
                ["server.crt", "server.key", "hba"].map(|name| place(name).display().to_string());
            format!("-c ssl=on -c ssl_cert_file={certificate} -c ssl_key_file={key} -c hba_file={hba}")
        })
    }

    /// Starts one that also listens on a socket in the file system; returns the directory of the socket with it.
    pub fn start_with_socket() -> (Self, PathBuf) {
        let server = Self::start_with(|server| format!("-c unix_socket_directories={}", server.directory.display()));
        let directory = server.directory.clone();
        (server, directory)
    }

    /// Starts a standby of this one, which shows what it has received so far.
    pub fn start_standby(&self) -> Self {
        let mut standby = Self::in_new_directory();
        let mut copy = standby.program("pg_basebackup");
        let primary = format!("host=127.0.0.1 port={} user=tablerock", self.port);
        copy.args(["--write-recovery-conf", "--no-sync", "--checkpoint=fast", "-d", &primary, "-D"]);
        succeed(copy.arg(standby.data()));
        standby.watch = Some(standby.start_watch());
        standby.resume();
        standby
    }

    /// Makes every commit wait for a standby, and waits until there is one.
    pub fn replicate_synchronously(&self) {
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.run("SELECT pg_reload_conf()");
        let started = Instant::now();
        while self.run("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").trim() != "1" {
            assert!(started.elapsed() < READY_WITHIN, "no standby connected");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Promotes a standby to the primary.
    pub fn promote(&self) {
        succeed(self.program("pg_ctl").args(["promote", "--wait", "-D"]).arg(self.data()));
    }

    /// Stops all of its processes: connections are accepted, and never get a response.
    pub fn freeze(&self) {
        self.signal("STOP");
    }

    /// Continues after [`freeze`](Self::freeze).
    pub fn thaw(&self) {
        self.signal("CONT");
    }

    /// The parent is stopped before its children are listed, so that it makes no more, and wakes last.
    fn signal(&self, name: &str) {
        let pid_file = std::fs::read_to_string(self.data().join("postmaster.pid")).expect("the server runs");
        let parent = pid_file.lines().next().expect("the first line is the process").to_owned();
        let send = |processes: &[String]| {
            // A process that has just ended is not a failure.
            let _ = Command::new("kill").arg(format!("-{name}")).args(processes).stderr(Stdio::null()).status();
        };
        send(std::slice::from_ref(&parent));
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        let children: Vec<String> = children.split_whitespace().map(str::to_owned).collect();
        send(&children);
    }

    fn in_new_directory() -> Self {
        let directory = std::env::temp_dir().join(format!("tablerock-postgres-{}-{}", std::process::id(), free_port()));
        std::fs::create_dir_all(&directory).expect("a temporary directory can be made");
        let server = Self { bin: find_programs(), directory, port: free_port(), settings: String::new(), watch: None };
        server.give_away(&server.directory);
        server
    }

    fn start_with(settings: impl FnOnce(&Self) -> String) -> Self {
        let mut server = Self::in_new_directory();
        server.settings = settings(&server);
        let data = server.data();
        let mut initdb = server.program("initdb");
        initdb.args(["--username=tablerock", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
        succeed(initdb.arg(&data));
        server.watch = Some(server.start_watch());
        server.resume();
        server
    }

    /// Gives a file to the user that runs the server.
    fn give_away(&self, path: &Path) {
        if is_root() {
            succeed(Command::new("chown").arg(format!("{}:", plain_user())).arg(path));
        }
    }

    fn start_watch(&self) -> Child {
        let stop = self.stopping("immediate");
        let mut watch = Command::new("sh");
        watch.args(["-c", r#"cat >/dev/null; "$@" >/dev/null 2>&1; rm -rf "$0""#]).arg(&self.directory);
        watch.arg(stop.get_program()).args(stop.get_args()).current_dir("/");
        watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        watch.spawn().expect("a shell can be started")
    }

    /// Starts it again after [`kill`](Self::kill).
    pub fn resume(&self) {
        let options = format!(
            "-c port={} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c max_connections=300 {}",
            self.port, self.settings
        );
        let log = self.directory.join("log");
        let mut start = self.program("pg_ctl");
        start.args(["start", "--wait", "-D"]).arg(self.data()).arg("-l").arg(log).arg("-o").arg(options);
        // The server keeps what it inherits open for as long as it lives.
        succeed(start.stdin(Stdio::null()));
    }

    /// Ends it like a crash: nothing is written, every connection breaks.
    pub fn kill(&self) {
        succeed(&mut self.stopping("immediate"));
    }

    fn stopping(&self, mode: &str) -> Command {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "--wait", "--mode", mode, "-D"]).arg(self.data());
        stop
    }

    /// Creates a schema and returns the URL of the database with it.
    pub fn url(&self, schema: &str) -> String {
        self.run(&format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\""));
        self.url_of(schema)
    }

    /// The URL of the database with an existing schema.
    pub fn url_of(&self, schema: &str) -> String {
        let options = format!("-c%20search_path%3D{schema}");
        format!("postgres://tablerock@127.0.0.1:{}/postgres?sslmode=disable&options={options}", self.port)
    }

    /// The URL of several servers, of which the first that serves is used.
    pub fn url_of_hosts(servers: &[&Self], schema: &str) -> String {
        let hosts: Vec<String> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        let options = format!("-c%20search_path%3D{schema}");
        format!("postgres://tablerock@{}/postgres?sslmode=disable&options={options}", hosts.join(","))
    }

    /// Runs SQL with `psql`, and returns its output.
    pub fn run(&self, sql: &str) -> String {
        let mut psql = self.program("psql");
        let address = format!("postgres://tablerock@127.0.0.1:{}/postgres", self.port);
        let output = succeed(psql.args(["-v", "ON_ERROR_STOP=1", "-At", "-c", sql]).arg(address));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs SQL and keeps its locks until the returned transaction is dropped.
    pub fn hold(&self, sql: &str) -> HeldTransaction {
        let mut psql = self.program("psql");
        let address = format!("postgres://tablerock@127.0.0.1:{}/postgres", self.port);
        psql.args(["-v", "ON_ERROR_STOP=1", "-At"]).arg(address);
        let mut process = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql can be started");
        let input = process.stdin.as_mut().expect("it is piped");
        writeln!(input, "BEGIN;\n{sql};\n\\echo held").expect("it reads");
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        assert!(lines.any(|line| line.is_ok_and(|line| line == "held")), "{sql} failed");
        HeldTransaction { process }
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn program(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut command = if is_root() {
            let user = plain_user();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", user, "--regid", user_group(user), "--clear-groups", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // The plain user may not be allowed into the current directory.
        command.current_dir("/").env("LC_ALL", "C");
        command
    }
}

impl Drop for DatabaseServer {
    fn drop(&mut self) {
        let Some(mut watch) = self.watch.take() else { return };
        // A frozen server does not end; a killed one has no processes.
        if self.data().join("postmaster.pid").exists() {
            self.thaw();
        }
        drop(watch.stdin.take());
        let _ = watch.wait();
    }
}

/// A transaction that keeps its locks for as long as this lives.
#[derive(Debug)]
pub struct HeldTransaction {
    process: Child,
}

impl Drop for HeldTransaction {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Whether this machine has a PostgreSQL to start.
pub fn is_installed() -> bool {
    search_programs().is_some()
}

/// The path of one of PostgreSQL's programs, such as `psql`.
pub fn program_of_client(name: &str) -> PathBuf {
    find_programs().join(name)
}

fn find_programs() -> PathBuf {
    search_programs().unwrap_or_else(|| {
        panic!("PostgreSQL is not installed; install it, or set {BIN_VARIABLE} to the folder of its programs")
    })
}

fn search_programs() -> Option<PathBuf> {
    let given = std::env::var_os(BIN_VARIABLE).map(PathBuf::from);
    let searched = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let packaged = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let mut packaged: Vec<_> = packaged.collect();
    packaged.sort();
    let places = given.into_iter().chain(searched.into_iter().flatten()).chain(packaged.into_iter().rev());
    let mut places = places.into_iter();
    places.find(|place| ["initdb", "pg_ctl", "psql"].iter().all(|name| place.join(name).exists()))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn plain_user() -> &'static str {
    let has_postgres = Command::new("id").arg("postgres").output().is_ok_and(|output| output.status.success());
    if has_postgres { "postgres" } else { "nobody" }
}

fn user_group(user: &str) -> &str {
    if user == "nobody" { "nogroup" } else { user }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("a listener has an address").port()
}

fn succeed(command: &mut Command) -> Output {
    let started = Instant::now();
    // Files, and not pipes: a server that is started keeps the other end of a pipe open.
    let capture = std::env::temp_dir().join(format!("tablerock-command-{}-{}", std::process::id(), free_port()));
    let file = std::fs::File::create(&capture).expect("a temporary file can be made");
    let errors = file.try_clone().expect("a file can be shared");
    let status = command.stdout(file).stderr(errors).status();
    let said = std::fs::read(&capture).unwrap_or_default();
    let _ = std::fs::remove_file(&capture);
    let shown = String::from_utf8_lossy(&said).into_owned();
    let status = status.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}\n{shown}");
    assert!(started.elapsed() < READY_WITHIN, "{command:?} took {:?}", started.elapsed());
    Output { status, stdout: said, stderr: vec![] }
}
