//! The commands of a single service, and the lines of all commands.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use super::{Line, Links, Running, pfx};

#[test]
fn the_lines_come_in_the_order_of_azurite_also_when_silent() {
    for silent in ["", " --silent"] {
        let links = Links::new();
        let mut running = Running::start(links.command(&format!("azurite --inMemoryPersistence{silent}")));
        let address = ["Blob", "Queue", "Table"].map(|service| running.address(service));
        let (stdout, _) = running.stop();
        let [blob, queue, table] = &address;
        let expected = [
            "Azurite Blob service is starting at http://127.0.0.1:0".to_owned(),
            format!("Azurite Blob service is successfully listening at http://{blob}"),
            "Azurite Queue service is starting at http://127.0.0.1:0".to_owned(),
            format!("Azurite Queue service is successfully listening at http://{queue}"),
            "Azurite Table service is starting at http://127.0.0.1:0".to_owned(),
            format!("Azurite Table service is successfully listening at http://{table}"),
            "Azurite Blob service is closing...".to_owned(),
            "Azurite Queue service is closing...".to_owned(),
            "Azurite Table service is closing...".to_owned(),
            "Azurite Blob service successfully closed".to_owned(),
            "Azurite Queue service successfully closed".to_owned(),
            "Azurite Table service successfully closed".to_owned(),
        ];
        assert_eq!(stdout, expected);
    }
}

#[test]
fn a_command_of_one_service_binds_nothing_else() {
    for (name, service) in [("azurite-blob", "Blob"), ("azurite-queue", "Queue"), ("azurite-table", "Table")] {
        for (options, scheme) in [("", "http"), (" --cert /cert.pfx --pwd geheim!", "https")] {
            let links = Links::new();
            let line = format!("{name} --inMemoryPersistence{}", options.replace("/cert.pfx", &pfx()));
            let mut running = Running::start(links.command(&line));
            let address = running.address(service);
            let ready = match service {
                "Table" => format!("Azurite Table service successfully started on {address}"),
                _ => format!("Azurite {service} service successfully listens on {scheme}://{address}"),
            };
            running.wait_for(|line| *line == Line::Stdout(ready.clone()));
            #[cfg(target_os = "linux")]
            assert_eq!(listening_sockets(&running), 1, "{line}");
            let (stdout, _) = running.stop();
            assert_eq!(stdout[0], format!("Azurite {service} service is starting on 127.0.0.1:0"));
            assert_eq!(stdout.len(), 4, "{stdout:#?}");
        }
    }
}

/// The listening TCP sockets of the process: those of its descriptors that the kernel lists in the state `0A`.
#[cfg(target_os = "linux")]
fn listening_sockets(running: &Running) -> usize {
    let process = format!("/proc/{}", running.process.id());
    let lists =
        ["tcp", "tcp6"].map(|list| std::fs::read_to_string(format!("{process}/net/{list}")).unwrap_or_default());
    let listening: Vec<String> = lists
        .iter()
        .flat_map(|list| list.lines().skip(1))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|columns| columns.get(3) == Some(&"0A"))
        .map(|columns| format!("socket:[{}]", columns[9]))
        .collect();
    let descriptors = std::fs::read_dir(format!("{process}/fd")).unwrap();
    let targets = descriptors.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    targets.filter(|target| listening.iter().any(|socket| target.as_os_str() == socket.as_str())).count()
}

#[test]
fn the_development_account_is_served_everywhere_with_a_warning() {
    let links = Links::new();
    let mut running = Running::start(links.command("azurite-table --tableHost 0.0.0.0 --inMemoryPersistence --silent"));
    running.wait_for_stderr("CAN READ AND CHANGE ALL DATA");
    running.wait_for_stdout("successfully started on 0.0.0.0:");
    running.stop();
}

#[test]
fn our_own_name_keeps_our_lines_and_silent_those_that_are_waited_for() {
    let links = Links::new();
    let mut running = Running::start(links.command("tablerock --in-memory --admin-port 0 --silent"));
    running.wait_for_stdout("Blob service is successfully listening at http://127.0.0.1:");
    let (stdout, stderr) = running.stop();
    assert_eq!(stdout.len(), 3, "{stdout:#?}");
    assert!(stdout.iter().all(|line| line.starts_with("Tablerock ")), "{stdout:#?}");
    assert_eq!(stderr, [""; 0]);
}
