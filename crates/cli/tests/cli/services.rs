//! The ports of queues and blobs: who is let in, and in which voice each service speaks.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::process::Command;

use tablerock_protocol::signing::{
    AccountKey, AccountPermissions, AccountSasTerms, BlobPermissions, BlobSasTerms, HeaderRequestParts,
    QueuePermissions, QueueSasTerms, SharedKeyScheme, SignedResourceTypes, SignedServices,
};
use tablerock_protocol::{ContainerName, DateTime, QueryString, QueueName, ServiceVersion};
use tablerock_testkit::process::{ANY_PORTS, NO_ADMIN, ServerProcess, exchange_text};

const ACCOUNT: &str = "acct";
const KEY: &str = "a2V5";
const QUEUE: &str = "Queue";
const BLOB: &str = "Blob";

/// A server in memory, with the addresses of its services.
struct Server {
    process: ServerProcess,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tablerock"));
        command.env_clear().args(["--in-memory", "--accounts", &format!("{ACCOUNT}:{KEY}")]);
        Self { process: ServerProcess::start(command.args(ANY_PORTS).args(NO_ADMIN)) }
    }

    fn send(&self, service: &str, head: &str, body: &str) -> Answer {
        let length = body.len();
        let text = format!("{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        let answer = exchange_text(self.process.address(service), &text);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        Answer { head: head.to_owned(), body: body.to_owned() }
    }

    /// Sends a request that is signed with the account's key, dated with the server's clock from a `Date` header.
    fn signed(&self, service: &str, method: &str, target: &str, body: &str) -> Answer {
        let now =
            self.send(service, &format!("GET /{ACCOUNT} HTTP/1.1"), "").header("date").expect("a date").to_owned();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let length = body.len().to_string();
        let headers = [("x-ms-date", now.as_str()), ("x-ms-version", "2021-12-02"), ("content-length", &length)];
        let parts = HeaderRequestParts {
            method,
            account: ACCOUNT,
            path,
            query: &QueryString::parse(query).unwrap(),
            headers: &headers,
            version: "2021-12-02".parse().unwrap(),
        };
        let authorization = parts.authorization(SharedKeyScheme::SharedKey, &key());
        let head = format!(
            "{method} {target} HTTP/1.1\r\nx-ms-date: {now}\r\nx-ms-version: 2021-12-02\r\nAuthorization: {authorization}"
        );
        self.send(service, &head, body)
    }
}

struct Answer {
    head: String,
    body: String,
}

impl Answer {
    fn status(&self) -> &str {
        self.head.split(' ').nth(1).expect("a status line")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn code(&self) -> Option<&str> {
        self.header("x-ms-error-code")
    }
}

fn key() -> AccountKey {
    AccountKey::parse(KEY).unwrap()
}

#[test]
fn errors_of_queues_and_blobs_are_xml_with_their_code_in_a_header() {
    let server = Server::start();
    for (service, target, status, code) in [
        (QUEUE, "/acct/NoName?comp=metadata", "400", "InvalidResourceName"),
        (QUEUE, "/acct/ab", "400", "OutOfRangeInput"),
        (QUEUE, "/acct/jobs?comp=lease", "400", "InvalidQueryParameterValue"),
        (QUEUE, "/other/jobs", "404", "ResourceNotFound"),
        (BLOB, "/acct/NoName/a", "400", "InvalidResourceName"),
        (BLOB, "/acct/photos/a?comp=other", "400", "InvalidQueryParameterValue"),
    ] {
        let answer = server.signed(service, "GET", target, "");
        assert_eq!((answer.status(), answer.code()), (status, Some(code)), "{service} {target}");
        let start = format!("\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>");
        assert!(answer.body.starts_with(&start), "{}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/xml"));
        let name = format!("Windows-Azure-{service}/1.0 Microsoft-HTTPAPI/2.0");
        assert_eq!(answer.header("server"), Some(name.as_str()));
    }
    let answer = server.signed(QUEUE, "GET", "/acct/jobs?comp=lease", "");
    assert!(answer.body.contains("</Message><QueryParameterName>comp</QueryParameterName>"), "{}", answer.body);
    let answer = server.signed(BLOB, "HEAD", "/acct/NoName/a", "");
    assert_eq!((answer.body.as_str(), answer.code()), ("", Some("InvalidResourceName")));
}

#[test]
fn credentials_are_those_of_the_service() {
    let server = Server::start();
    let properties = "/acct/?restype=service&comp=properties";
    for service in [QUEUE, BLOB] {
        let answer = server.signed(service, "GET", properties, "");
        assert_eq!(answer.status(), "200", "{}", answer.body);
        let nobody = server.send(service, &format!("GET {properties} HTTP/1.1\r\nx-ms-version: 2021-12-02"), "");
        assert_eq!((nobody.status(), nobody.code()), ("401", Some("NoAuthenticationInformation")));
        assert!(nobody.header("www-authenticate").is_some_and(|challenge| challenge.starts_with("Bearer ")));
        let head = format!("GET {properties} HTTP/1.1\r\nx-ms-date: {}", answer.header("date").unwrap());
        let forged = server.send(service, &format!("{head}\r\nAuthorization: SharedKey acct:{}=", "A".repeat(43)), "");
        assert_eq!((forged.status(), forged.code()), ("403", Some("AuthenticationFailed")));
        let malformed = server.send(service, &format!("{head}\r\nAuthorization: Basic x"), "");
        assert_eq!((malformed.status(), malformed.code()), ("400", Some("InvalidAuthenticationInfo")));
    }
}

#[test]
fn an_account_sas_is_good_for_the_services_that_it_names() {
    let server = Server::start();
    let types = SignedResourceTypes::SERVICE;
    let terms = AccountSasTerms::new(SignedServices::QUEUE, types, AccountPermissions::READ, DateTime::MAX);
    let token = terms.sign(ACCOUNT, &key()).unwrap().to_query();
    let get = |service, token: &str| {
        server.send(service, &format!("GET /acct/?restype=service&comp=properties&{token} HTTP/1.1"), "")
    };
    assert_eq!(get(QUEUE, &token).status(), "200");
    assert_eq!(get(BLOB, &token).code(), Some("AuthorizationServiceMismatch"));
    let terms = AccountSasTerms { permissions: AccountPermissions::WRITE, ..terms };
    let token = terms.sign(ACCOUNT, &key()).unwrap().to_query();
    assert_eq!(get(QUEUE, &token).code(), Some("AuthorizationPermissionMismatch"));
}

#[test]
fn a_service_sas_is_refused_with_the_reason() {
    let server = Server::start();
    let queue = QueueName::parse("jobs").unwrap();
    let token = QueueSasTerms::new(queue, QueuePermissions::READ, DateTime::MAX).sign(ACCOUNT, &key()).unwrap();
    let send = |service, method: &str, target: &str| server.send(service, &format!("{method} {target} HTTP/1.1"), "");
    let token = token.to_query();
    let answer = send(QUEUE, "POST", &format!("/acct/jobs/messages?{token}"));
    assert_eq!((answer.status(), answer.code()), ("403", Some("AuthorizationPermissionMismatch")));
    let answer = send(QUEUE, "PUT", &format!("/acct/jobs?{token}"));
    assert_eq!((answer.status(), answer.code()), ("403", Some("AuthorizationFailure")));
    let answer = send(QUEUE, "GET", &format!("/acct/others/messages?peekonly=true&{token}"));
    assert_eq!((answer.status(), answer.code()), ("403", Some("AuthenticationFailed")));
    assert!(answer.body.contains("<AuthenticationErrorDetail>the signature does not match<"), "{}", answer.body);

    let container = ContainerName::parse("photos").unwrap();
    let terms = BlobSasTerms::new(container, BlobPermissions::READ, DateTime::MAX);
    let token = terms.sign(ACCOUNT, &key()).unwrap().to_query();
    let answer = send(BLOB, "DELETE", &format!("/acct/photos/a?{token}"));
    assert_eq!((answer.status(), answer.code()), ("403", Some("AuthorizationPermissionMismatch")));
    let answer = send(BLOB, "GET", &format!("/acct/photos/a?{token}&skoid=x"));
    assert_eq!((answer.status(), answer.code()), ("403", Some("AuthenticationFailed")));
    assert!(answer.body.contains("user delegation"), "{}", answer.body);
}

#[test]
fn each_service_has_properties_of_its_own() {
    let server = Server::start();
    let target = "/acct/?restype=service&comp=properties";
    let rule = "<CorsRule><AllowedOrigins>http://a.example</AllowedOrigins><AllowedMethods>GET</AllowedMethods>\
                <MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders /><AllowedHeaders /></CorsRule>";
    let document = format!("<StorageServiceProperties><Cors>{rule}</Cors></StorageServiceProperties>");
    assert_eq!(server.signed(QUEUE, "PUT", target, &document).status(), "202");
    let queue = server.signed(QUEUE, "GET", target, "");
    assert!(queue.body.contains("http://a.example") && !queue.body.contains("StaticWebsite"), "{}", queue.body);
    assert_eq!(queue.header("cache-control"), Some("no-cache"));
    let blob = server.signed(BLOB, "GET", target, "");
    assert!(blob.body.contains("<Cors /><DeleteRetentionPolicy><Enabled>false"), "{}", blob.body);

    let preflight = "OPTIONS /acct/jobs HTTP/1.1\r\nOrigin: http://a.example\r\nAccess-Control-Request-Method: GET";
    assert_eq!(server.send(QUEUE, preflight, "").status(), "200");
    let refused = server.send(BLOB, preflight, "");
    assert_eq!((refused.status(), refused.code()), ("403", Some("CorsPreflightFailure")));
}

#[test]
fn stats_are_the_secondarys_and_the_account_tells_its_kind() {
    let server = Server::start();
    for service in [QUEUE, BLOB] {
        let stats = |root: &str| server.signed(service, "GET", &format!("/{root}/?restype=service&comp=stats"), "");
        assert!(stats("acct-secondary").body.contains("<Status>live</Status>"));
        assert_eq!(stats("acct").code(), Some("InvalidQueryParameterValue"));
        let set = server.signed(service, "PUT", "/acct-secondary/?restype=service&comp=properties", "");
        assert_eq!(set.code(), Some("InsufficientAccountPermissions"));
    }
    for target in ["/acct/?restype=account&comp=properties", "/acct/photos/a?restype=account&comp=properties"] {
        let answer = server.signed(BLOB, "HEAD", target, "");
        assert_eq!((answer.status(), answer.header("x-ms-account-kind")), ("200", Some("StorageV2")));
    }
    let version = server.signed(BLOB, "HEAD", "/acct/?restype=account&comp=properties", "");
    let version = version.header("x-ms-version").and_then(|text| text.parse::<ServiceVersion>().ok());
    assert_eq!(version, "2021-12-02".parse().ok());
}
