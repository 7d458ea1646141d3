//! Every flag and variable of Azurite, with what it means here.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::process::Command;

use super::{Links, Running, pfx, write_certificate};

/// The effect of a flag.
enum Effect {
    /// The server starts and prints a line with this text.
    Prints(&'static str),
    /// The server starts and creates this file or folder.
    Creates(&'static str),
    /// The server starts. Other tests show the effect.
    Starts,
    /// The server starts and explains on stderr why the flag has no effect.
    Explains(&'static str),
    /// The server does not start, with this exit code and reason.
    Refuses(i32, &'static str),
}

use Effect::{Creates, Explains, Prints, Refuses, Starts};

/// The flags of `azurite`, as its `Environment.ts` defines them.
const FLAGS: &[(&str, Effect)] = &[
    ("--blobHost localhost", Prints("Azurite Blob service is starting at http://localhost:0")),
    ("--blobPort 0", Prints("Azurite Blob service is starting at http://127.0.0.1:0")),
    ("--blobKeepAliveTimeout 5", Starts),
    ("--queueHost localhost", Prints("Azurite Queue service is starting at http://localhost:0")),
    ("--queuePort 0", Prints("Azurite Queue service is starting at http://127.0.0.1:0")),
    ("--queueKeepAliveTimeout 5", Starts),
    ("--tableHost localhost", Prints("Azurite Table service is starting at http://localhost:0")),
    ("--tablePort 0", Prints("Azurite Table service is starting at http://127.0.0.1:0")),
    ("--tableKeepAliveTimeout 5", Starts),
    ("--location new/place", Creates("new/place/tablerock-data")),
    ("-l place", Creates("place/tablerock-data")),
    ("--silent", Prints("Azurite Table service is successfully listening")),
    ("-s", Prints("Azurite Table service is successfully listening")),
    ("--loose", Starts),
    ("-L", Starts),
    ("--skipApiVersionCheck", Explains("every well-formed x-ms-version is accepted")),
    ("--disableProductStyleUrl", Starts),
    ("--cert cert.pem --key key.pem", Prints("Azurite Blob service is successfully listening at https://")),
    ("--cert file.pfx --pwd geheim!", Prints("Azurite Blob service is successfully listening at https://")),
    ("--cert file.pfx --pwd falsch", Refuses(1, "the password does not open it: check --pwd")),
    ("--cert file.pfx", Refuses(1, "check --pwd")),
    ("--cert cert.pem", Refuses(1, "set --key to the PEM file with the key")),
    ("--cert cert.pem --key key.pem --pwd x", Explains("--pwd has no effect")),
    ("--key key.pem", Refuses(1, "set --cert")),
    ("--pwd geheim!", Refuses(1, "set --cert")),
    ("--oauth basic --cert cert.pem --key key.pem", Prints("https://")),
    ("--oauth BASIC --cert cert.pem --key key.pem", Prints("https://")),
    ("--oauth basic", Explains("tokens only over HTTPS")),
    ("--oauth full", Refuses(2, "possible values: basic")),
    ("--inMemoryPersistence", Starts),
    ("--inMemoryPersistence --location place", Refuses(1, "--in-memory")),
    ("--inMemoryPersistence --extentMemoryLimit 64", Explains("--extentMemoryLimit has no effect")),
    ("--inMemoryPersistence --extentMemoryLimit -1", Starts),
    ("--inMemoryPersistence --extentMemoryLimit -5", Refuses(1, "is not a size")),
    ("--extentMemoryLimit 64", Refuses(1, "--inMemoryPersistence")),
    ("--debug logs/debug.log", Creates("logs/debug.log")),
    ("-d debug.log", Creates("debug.log")),
    ("-d", Refuses(2, "a value is required")),
    ("--disableTelemetry", Explains("there is no telemetry")),
    ("--blobPort=0", Starts),
    ("--noSuchFlag", Refuses(2, "--noSuchFlag")),
];

/// The variables that Azurite reads.
const VARIABLES: &[(&str, &str, Effect)] = &[
    ("AZURITE_ACCOUNTS", "one:b25lIGtleSB3aXRoIDMyIGJ5dGVzIG9yIGV2ZW4gbW9yZSE=", Starts),
    ("AZURITE_ACCOUNTS", "one", Refuses(1, "write one:key")),
    ("AZURITE_SKIP_API_VERSION_CHECK", "true", Explains("AZURITE_SKIP_API_VERSION_CHECK has no effect")),
    ("AZURITE_DB", "mysql://root:secret@localhost:3306/azurite", Refuses(1, "unset it")),
];

fn check(links: &Links, shown: &str, command: Command, effect: &Effect) {
    let mut running = Running::start(command);
    if let Refuses(code, reason) = effect {
        let (status, _, stderr) = running.finish();
        let stderr = stderr.join("\n");
        assert_eq!(status.code(), Some(*code), "{shown}: {stderr}");
        assert!(stderr.contains(reason) && !stderr.contains("secret"), "{shown}: {stderr}");
        return;
    }
    running.wait_for_stdout("Azurite Table service is successfully listening");
    match effect {
        Prints(text) => drop(running.wait_for_stdout(text)),
        Explains(text) => drop(running.wait_for_stderr(text)),
        Creates(path) => assert!(links.path().join(path).exists(), "{shown}"),
        Starts | Refuses(..) => {}
    }
    let (_, stderr) = running.stop();
    let explained = stderr.iter().filter(|line| line.contains("has no effect")).count();
    assert_eq!(explained, usize::from(matches!(effect, Explains(_))), "{shown}: {stderr:#?}");
}

fn folder() -> Links {
    let links = Links::new();
    write_certificate(links.path());
    std::fs::copy(pfx(), links.path().join("file.pfx")).unwrap();
    links
}

#[test]
fn every_flag_has_its_effect_or_a_reason() {
    for (flags, effect) in FLAGS {
        let links = folder();
        check(&links, flags, links.command(&format!("azurite {flags}")), effect);
    }
}

#[test]
fn every_variable_has_its_effect_or_a_reason() {
    for (name, value, effect) in VARIABLES {
        let links = folder();
        let mut command = links.command("azurite --inMemoryPersistence");
        command.env(name, value);
        check(&links, name, command, effect);
    }
}
