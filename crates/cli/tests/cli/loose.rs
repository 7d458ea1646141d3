//! `--loose` ignores what is refused otherwise.

use std::process::Command;

use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, SignedResourceTypes, SignedServices,
};
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange_text};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Puts a blob under a legal hold, which this server does not have. Returns the response.
fn put_under_hold(arguments: &[&str], sas: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
    command.env_clear().args(ANY_PORTS).args(NO_ADMIN).arg("--in-memory").args(arguments);
    let server = ServerProcess::start(&mut command);
    let put = |target: &str, headers: &str| {
        let head = format!("PUT /{ACCOUNT}/{target}&{sas} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}");
        exchange_text(server.address("Blob"), &format!("{head}Content-Length: 0\r\n\r\n"))
    };
    let created = put("box?restype=container", "");
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");
    put("box/b?timeout=30", "x-ms-blob-type: BlockBlob\r\nx-ms-legal-hold: true\r\n")
}

#[test]
fn a_request_for_something_that_is_not_served_is_refused_unless_loose() {
    let terms = AccountSasTerms::new(
        SignedServices::parse("b").unwrap(),
        SignedResourceTypes::parse("co").unwrap(),
        AccountPermissions::parse("cw").unwrap(),
        DateTime::parse("2099-01-01T00:00:00Z").unwrap(),
    );
    let sas = terms.sign(ACCOUNT, &AccountKey::parse(KEY).unwrap()).unwrap().to_query();
    let refused = put_under_hold(&[], &sas);
    assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("UnsupportedHeader"), "{refused}");
    assert!(refused.contains("<HeaderName>x-ms-legal-hold</HeaderName>"), "{refused}");
    let ignored = put_under_hold(&["--loose"], &sas);
    assert!(ignored.starts_with("HTTP/1.1 201"), "{ignored}");
}

#[test]
fn soft_delete_is_stored_only_if_loose() {
    let terms = AccountSasTerms::new(
        SignedServices::parse("b").unwrap(),
        SignedResourceTypes::parse("s").unwrap(),
        AccountPermissions::parse("w").unwrap(),
        DateTime::parse("2099-01-01T00:00:00Z").unwrap(),
    );
    let sas = terms.sign(ACCOUNT, &AccountKey::parse(KEY).unwrap()).unwrap().to_query();
    let policy = "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>";
    let body = format!("<StorageServiceProperties>{policy}</StorageServiceProperties>");
    for (arguments, status) in [(&[][..], "400"), (&["--loose"], "202")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
        command.env_clear().args(ANY_PORTS).args(NO_ADMIN).arg("--in-memory").args(arguments);
        let server = ServerProcess::start(&mut command);
        let target = format!("/{ACCOUNT}/?restype=service&comp=properties&{sas}");
        let head = format!("PUT {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-ms-version: 2021-12-02\r\n");
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let response = exchange_text(server.address("Blob"), &request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{response}");
        assert_eq!(
            response.contains("<XmlNodeName>DeleteRetentionPolicy</XmlNodeName>"),
            status == "400",
            "{response}"
        );
    }
}
