//! The image with the command of each harness, and what the harness waits for. The commands and rules are those of the
//! Testcontainers modules, .NET Aspire and the health checks of compose files. The recipes of the documents run in the same way.

use super::container::{self, Container, Root};
use super::recipes::{self, Recipe};
use super::{Context, Miss, Outcome};
use crate::Result;
use crate::package::image::{self, AZURITE_NAMES, Image};

/// When a harness takes a server for ready.
enum Ready<'a> {
    /// Every text is part of a line of the log.
    Lines(&'a [&'a str]),
    /// The ports accept connections, and a shell inside finds them as Testcontainers looks for them.
    Ports(&'a [u16]),
    /// A shell command inside succeeds.
    Command(&'a str),
}

struct Harness<'a> {
    name: &'a str,
    /// Empty for the command of the image.
    command: &'a str,
    variables: &'a [(&'a str, &'a str)],
    ready: Ready<'a>,
}

const HOSTS: &str = "azurite --blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0";
const ALL_PORTS: &[u16] = &[10000, 10001, 10002];
const LISTENING: &[&str] = &[
    "Blob service is successfully listening",
    "Queue service is successfully listening",
    "Table service is successfully listening",
];
const ACCOUNTS: (&str, &str) =
    ("AZURITE_ACCOUNTS", "account1:c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0");

const HARNESSES: [Harness<'static>; 10] = [
    Harness { name: "Testcontainers for Python", command: "", variables: &[ACCOUNTS], ready: Ready::Ports(ALL_PORTS) },
    Harness { name: "Testcontainers for Java", command: HOSTS, variables: &[], ready: Ready::Ports(ALL_PORTS) },
    Harness { name: "Testcontainers for .NET", command: HOSTS, variables: &[], ready: Ready::Lines(LISTENING) },
    Harness {
        name: "Testcontainers for .NET, in memory",
        command: "azurite --blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0 --inMemoryPersistence --extentMemoryLimit 64",
        variables: &[],
        ready: Ready::Lines(LISTENING),
    },
    Harness {
        name: "Testcontainers for Go",
        command: "azurite --blobHost 0.0.0.0 --blobPort 10000 --queueHost 0.0.0.0 --queuePort 10001 --tableHost 0.0.0.0 --tablePort 10002",
        variables: &[],
        ready: Ready::Ports(ALL_PORTS),
    },
    Harness {
        name: "Testcontainers for Go, blobs only",
        command: "azurite-blob --blobHost 0.0.0.0 --blobPort 10000",
        variables: &[],
        ready: Ready::Ports(&[10000]),
    },
    Harness {
        name: "Testcontainers for Node.js",
        command: "azurite --blobHost 0.0.0.0 --blobPort 10000 --queueHost 0.0.0.0 --queuePort 10001 --tableHost 0.0.0.0 \
            --tablePort 10002 --inMemoryPersistence --skipApiVersionCheck --silent",
        variables: &[ACCOUNTS],
        ready: Ready::Lines(LISTENING),
    },
    Harness {
        name: "Testcontainers for Rust",
        command: "azurite --blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0 --loose --skipApiVersionCheck --disableTelemetry",
        variables: &[],
        ready: Ready::Lines(&["Azurite Table service is successfully listening at http://0.0.0.0:10002"]),
    },
    Harness {
        name: ".NET Aspire",
        command: "azurite -l /data --blobHost 0.0.0.0 --queueHost 0.0.0.0 --tableHost 0.0.0.0 --disableProductStyleUrl \
            --skipApiVersionCheck",
        variables: &[],
        ready: Ready::Ports(ALL_PORTS),
    },
    Harness { name: "compose files", command: "", variables: &[], ready: Ready::Command("nc 127.0.0.1 10000 -z") },
];

/// Makes the image twice, and runs it with each command.
pub(super) fn check(context: &Context<'_>) -> Outcome {
    let Context { workspace, version, binary, .. } = context;
    let name = image::file_name(version);
    let tar = context.package(&name, || Image::of(workspace, version, binary)?.to_tar())?;
    let root = Root::unpack(&tar, &workspace.target.join("packages/check/image"))?;
    for harness in &HARNESSES {
        run_named(&root, harness)?;
    }
    let nonroot = root.nonroot().ok_or("the image has no variant without root")?;
    if container::has_users() {
        run_named(&nonroot, &Harness { name: "nonroot", command: "", variables: &[], ready: Ready::Lines(LISTENING) })?;
    } else {
        println!("skipped: image of another user than root: needs root");
    }
    let recipes = recipes::read(workspace)?;
    for recipe in &recipes {
        let variables: Vec<(&str, &str)> =
            recipe.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let health = recipe.health.as_deref().unwrap_or("tablerock health");
        let Recipe { name, command, .. } = recipe;
        run_named(&root, &Harness { name, command, variables: &variables, ready: Ready::Command(health) })?;
    }
    Ok(HARNESSES.len() + 1 + recipes.len())
}

fn run_named(root: &Root, harness: &Harness<'_>) -> std::result::Result<(), Miss> {
    run(root, harness).map_err(|miss| match miss {
        Miss::Failed(why) => Miss::Failed(format!("{}: {why}", harness.name)),
        other => other,
    })
}

fn run(root: &Root, harness: &Harness<'_>) -> std::result::Result<(), Miss> {
    let words = harness.command.split_whitespace().map(str::to_owned);
    let command = if harness.command.is_empty() { root.default_command() } else { words.collect() };
    let mut container = root.run(&command, harness.variables)?;
    container.wait_until("ready by the rule of the harness", |container| is_ready(container, &harness.ready))?;
    let health = root.health_check();
    container.wait_until("healthy", |container| {
        container.exec(&health).is_ok_and(|output| output.status.success() && output.stdout == b"ready\n")
    })?;
    check_inside(&container)?;
    match container.stop()? {
        0 => Ok(()),
        code => Err(format!("exit code {code} after SIGTERM").into()),
    }
}

fn is_ready(container: &Container, ready: &Ready<'_>) -> bool {
    match ready {
        Ready::Lines(texts) => {
            let lines = container.lines();
            texts.iter().all(|text| lines.iter().any(|line| line.contains(text)))
        }
        Ready::Ports(ports) => ports.iter().all(|port| {
            let listed = format!("grep -i ':0*{port:x}' /proc/net/tcp*");
            container.succeeds(&listed) && container.succeeds(&format!("nc -vz -w 1 localhost {port}"))
        }),
        Ready::Command(line) => container.succeeds(line),
    }
}

/// The names and tools that commands in containers use.
fn check_inside(container: &Container) -> Result<()> {
    let names = AZURITE_NAMES.map(|name| format!("{name} --version")).join(" && ");
    for line in [
        &names,
        "awk 'BEGIN { exit 0 }'",
        "wget -q -O - http://127.0.0.1:10003/readyz | grep ready",
        "test -w /data",
        "! nc -z 127.0.0.1 9",
    ] {
        if !container.succeeds(line) {
            return Err(format!("`{line}` fails in the container"));
        }
    }
    Ok(())
}
