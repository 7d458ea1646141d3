//! The account with a published key is not served to a network by accident, and a start reports unsafe settings.

use super::process::Process;
use crate::run::Run;

const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const OTHER_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const ALL_DATA: &str = "CAN READ AND CHANGE ALL DATA";

/// The published key off loopback is refused with the remedy, under any name and on each service.
pub(super) async fn is_refused(run: &Run) -> Result<(), String> {
    let listed = [format!("devstoreaccount1:{KEY}"), format!("mine:{OTHER_KEY}:{KEY}")];
    for (flag, host, accounts) in [
        ("--blob-host", "0.0.0.0", None),
        ("--queue-host", "0.0.0.0", None),
        ("--table-host", "0.0.0.0", None),
        ("--table-host", "::", None),
        ("--table-host", "0.0.0.0", Some(&listed[0])),
        ("--table-host", "0.0.0.0", Some(&listed[1])),
    ] {
        let variable = accounts.map(|list| ("TABLEROCK_ACCOUNTS", list.as_str()));
        let mut process = Process::spawn(run, variable.as_slice(), &[flag, host])?;
        let code = process.exit_code().await;
        let stderr = process.stderr();
        // A machine without IPv6 cannot bind.
        let is_refused = host == "::" && stderr.contains("cannot listen");
        if code != Some(1) || !(is_refused || stderr.contains("--allow-dev-account")) {
            let stdout = process.stdout();
            let banner = stdout.lines().next().unwrap_or_default();
            return Err(format!("{flag} {host} with the published key: exit code {code:?}, {stderr:?}, {banner:?}"));
        }
    }
    Ok(())
}

/// Asked for, it is served with a warning that no log level hides, and the banner shows the address as bound.
pub(super) async fn is_served_on_request(run: &Run) -> Result<(), String> {
    let flag = Process::start(run, &[], &["--table-host", "0.0.0.0", "--allow-dev-account"]).await?;
    let bound = format!("successfully listening at http://0.0.0.0:{}", run.program.table_port);
    if !flag.stdout().contains(&bound) {
        return Err(format!("the banner does not show the address as bound: {}", flag.stdout()));
    }
    expect_warning(&flag, ALL_DATA)?;
    expect_warning(&flag, "plain HTTP")?;
    drop(flag);
    let variable = [("TABLEROCK_ALLOW_DEV_ACCOUNT", "true")];
    let variable = Process::start(run, &variable, &["--table-host", "0.0.0.0", "--log", "error"]).await?;
    expect_warning(&variable, ALL_DATA)?;
    drop(variable);
    let own_key = [("TABLEROCK_ACCOUNTS", format!("devstoreaccount1:{OTHER_KEY}"))];
    let own_key = own_key.each_ref().map(|(name, value)| (*name, value.as_str()));
    let own_key = Process::start(run, &own_key, &["--table-host", "0.0.0.0"]).await?;
    match own_key.stderr() {
        stderr if stderr.contains(ALL_DATA) => {
            Err(format!("a key of one's own is taken for the published one: {stderr}"))
        }
        _ => Ok(()),
    }
}

/// A key that can be guessed is reported, once.
pub(super) async fn short_keys_are_reported(run: &Run) -> Result<(), String> {
    let process = Process::start(run, &[("TABLEROCK_ACCOUNTS", "mine:a2V5a2V5a2V5")], &[]).await?;
    expect_warning(&process, "mine has only 9 bytes")?;
    let stderr = process.stderr();
    if stderr.contains("a2V5") {
        return Err(format!("the warning contains the key: {stderr}"));
    }
    Ok(())
}

/// A place for data and none contradict each other.
pub(super) async fn memory_with_a_location_is_refused(run: &Run) -> Result<(), String> {
    let folder = run.folder.to_string_lossy();
    let mut process = Process::spawn(run, &[], &["--location", &folder])?;
    match process.exit_code().await {
        Some(1) => Ok(()),
        code => Err(format!("--in-memory with --location: exit code {code:?}, {:?}", process.stdout())),
    }
}

fn expect_warning(process: &Process, text: &str) -> Result<(), String> {
    let stderr = process.stderr();
    match stderr.lines().filter(|line| line.contains("WARN") && line.contains(text)).count() {
        1 => Ok(()),
        count => Err(format!("{count} warnings with {text:?} on stderr: {stderr:?}")),
    }
}
