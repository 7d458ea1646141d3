//! Whatever a stranger sends is refused or read, and never ends in a panic.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::net::IpAddr;

use tablerock_protocol::signing::{
    AccountKey, BlobSas, BlobSasTarget, HeaderRequestParts, IpRange, QueueSas, RequestOrigin, SasParameters,
    SharedKeyScheme, TablePermissions, TableServiceSas, check_request_date, parse_authorization,
};
use tablerock_protocol::xml::{ServiceProperties, ServicePropertiesUpdate, StoredAccessPolicies};
use tablerock_protocol::{
    BlobName, BlobResource, ContainerName, DateTime, QueryString, QueueName, QueueResource, Service, ServiceVersion,
};

const ROUNDS: u64 = 4_000;

/// Small numbers from a seed (SplitMix64); a failure prints the seed of its round.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Bytes with no plan at all.
    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(200)).map(|_| self.below(256) as u8).collect()
    }

    /// Pieces of the language, in no order, now and then broken by a random byte.
    fn pieces(&mut self, language: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..self.below(60) {
            out.extend_from_slice(self.pick(language).as_bytes());
            if self.below(30) == 0 {
                out.push(self.below(256) as u8);
            }
        }
        out
    }

    /// A good document with one to four bytes replaced, removed or doubled.
    fn damage(&mut self, document: &str) -> Vec<u8> {
        let mut bytes = document.as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 => bytes[at] = self.below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, bytes[at]),
            }
        }
        bytes
    }
}

fn for_each_seed(check: impl Fn(&mut Numbers) + std::panic::RefUnwindSafe) {
    for seed in 0..ROUNDS {
        let checked = std::panic::catch_unwind(|| check(&mut Numbers(seed)));
        assert!(checked.is_ok(), "seed {seed}");
    }
}

/// Whatever is accepted must survive being written and read again.
fn read_xml(document: &[u8]) {
    if let Ok(properties) = ServiceProperties::parse(document, Service::Table) {
        let rendered = properties.render(Service::Table, ServiceVersion::LATEST);
        assert_eq!(ServiceProperties::parse(rendered.as_bytes(), Service::Table), Ok(properties));
    }
    let _ = ServicePropertiesUpdate::parse(document, Service::Table, ServiceVersion::TABLE_SAS);
    if let Ok(policies) = StoredAccessPolicies::parse(document, TablePermissions::LETTERS) {
        let rendered = policies.render();
        assert_eq!(StoredAccessPolicies::parse(rendered.as_bytes(), TablePermissions::LETTERS), Ok(policies));
    }
}

const XML: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "&",
    ";",
    "&amp;",
    "&#x41;",
    "&#0;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<!DOCTYPE a [",
    "<!ENTITY a \"b\">",
    "]>",
    "<?xml version=\"1.0\"?>",
    "<?",
    "?>",
    "\u{feff}",
    "\r",
    "\n",
    "é",
    "\"",
    "=",
    "a",
    "<SignedIdentifiers>",
    "</SignedIdentifiers>",
    "<SignedIdentifier>",
    "</SignedIdentifier>",
    "<Id>",
    "</Id>",
    "<AccessPolicy/>",
    "<StorageServiceProperties>",
    "</StorageServiceProperties>",
    "<Cors>",
    "</Cors>",
    "<CorsRule>",
    "</CorsRule>",
    "<AllowedHeaders>",
    "*",
    ",",
    "</AllowedHeaders>",
    "<HourMetrics>",
    "</HourMetrics>",
    "<Enabled>true</Enabled>",
    "<IncludeAPIs>false</IncludeAPIs>",
];

#[test]
fn xml_never_panics() {
    let properties = "<StorageServiceProperties><HourMetrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>\
        <RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></HourMetrics><Cors><CorsRule>\
        <AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><AllowedHeaders>x-*</AllowedHeaders>\
        <ExposedHeaders>&#x41;</ExposedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>\
        </StorageServiceProperties>";
    let policies = "<SignedIdentifiers><SignedIdentifier><Id>a&lt;&#13;</Id><AccessPolicy><Start>2021-07-08</Start>\
        <Expiry>2021-07-08T09:10:09.0000000Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier>\
        </SignedIdentifiers>";
    for_each_seed(|numbers| {
        read_xml(&numbers.bytes());
        read_xml(&numbers.pieces(XML));
        read_xml(&numbers.damage(properties));
        read_xml(&numbers.damage(policies));
    });
}

#[test]
fn expansion_and_depth_bombs_are_refused() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]>\
        <SignedIdentifiers>&c;</SignedIdentifiers>";
    assert!(StoredAccessPolicies::parse(laughs.as_bytes(), "r").is_err());
    let deep = "<SignedIdentifiers>".repeat(3_000);
    assert!(StoredAccessPolicies::parse(deep.as_bytes(), "r").is_err());
    let huge = format!("<SignedIdentifiers>{}</SignedIdentifiers>", " ".repeat(1 << 20));
    assert!(StoredAccessPolicies::parse(huge.as_bytes(), "r").is_err());
}

#[test]
fn tokens_never_panic() {
    const NAMES: &[&str] = &[
        "sv", "ss", "srt", "tn", "sp", "st", "se", "spk", "srk", "epk", "erk", "si", "sip", "spr", "ses", "sr", "sig",
        "x",
    ];
    const VALUES: &[&str] = &[
        "",
        "2019-02-02",
        "2020-12-06",
        "2012-02-12",
        "t",
        "b",
        "c",
        "bs",
        "sco",
        "People",
        "raud",
        "2030-01-01",
        "2030-01-01T00:00Z",
        "a",
        "é",
        "10.0.0.1",
        "10.0.0.1-10.0.0.9",
        "-",
        "https",
        "https,http",
        "\n",
        "+",
        "0",
        "16CNuhjXXZfFgxWKnVlFYriufw6M3mWCahcc0KPe1l4=",
    ];
    let origin = RequestOrigin {
        now: DateTime::from_unix_seconds(1_735_689_600),
        source: IpAddr::from([10, 0, 0, 1]),
        is_https: false,
    };
    for_each_seed(|numbers| {
        let noise = String::from_utf8_lossy(&numbers.bytes()).into_owned();
        let mut pairs: Vec<(&str, &str)> =
            (0..numbers.below(16)).map(|_| (numbers.pick(NAMES), numbers.pick(VALUES))).collect();
        pairs.push((numbers.pick(NAMES), &noise));
        let keys = [AccountKey::from_bytes(b"key")];
        check_others(&pairs, &keys);
        match TableServiceSas::parse(pairs) {
            Ok(Some(TableServiceSas::Table(sas))) => {
                assert!(sas.verify("acct", &keys).is_err());
                if let Ok(grant) = sas.grant(&StoredAccessPolicies::default()) {
                    let _ = grant.constraints.check(&origin);
                    grant.keys.contains("a", "b");
                }
            }
            Ok(Some(TableServiceSas::Account(sas))) => {
                assert!(sas.verify("acct", &keys).is_err());
                let _ = sas.grant().map(|grant| grant.constraints.check(&origin));
            }
            Ok(None) | Err(_) => {}
        }
    });
}

/// The same parameters as the SAS of a queue, of a container and of a blob.
fn check_others(pairs: &[(&str, &str)], keys: &[AccountKey]) {
    let none = StoredAccessPolicies::default();
    let Ok(Some(parameters)) = SasParameters::collect(pairs.iter().copied()) else { return };
    if let Ok(sas) = QueueSas::parse(parameters.clone()) {
        assert!(sas.verify("acct", &QueueName::parse("jobs").unwrap(), keys).is_err());
        let _ = sas.grant(&none);
    }
    if let Ok(sas) = BlobSas::parse(parameters) {
        let (container, blob) = (ContainerName::root(), BlobName::parse("a").unwrap());
        for blob in [None, Some(&blob)] {
            let target = BlobSasTarget { container: &container, blob, snapshot: Some("x"), version: Some("") };
            assert!(sas.verify("acct", &target, keys).is_err());
        }
        let _ = sas.grant(&none);
    }
}

#[test]
fn signed_headers_and_paths_never_panic() {
    const NAMES: &[&str] = &["x-ms-", "a", "-", "'", "_", "~", "1", "date", "content-length", "x-ms-date", "+", "|"];
    const TARGET: &[&str] =
        &["/", "acct", "-secondary", "a", "%", "%41", "%ff", "..", "messages", "$root", "&", "=", "comp"];
    let keys = [AccountKey::from_bytes(b"key")];
    for_each_seed(|numbers| {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let count = numbers.below(12);
        let headers: Vec<(String, String)> = (0..count)
            .map(|_| (text(numbers.pieces(NAMES)), text(numbers.pieces(&["a", " ", "\t", "\"", "é", ","]))))
            .collect();
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (path, query) = (text(numbers.pieces(TARGET)), text(numbers.pieces(TARGET)));
        let _ = QueueResource::parse(&path);
        let _ = BlobResource::parse(&path, numbers.below(2) == 0);
        let Ok(query) = QueryString::parse(&query) else { return };
        let version = ServiceVersion::LATEST;
        let parts = HeaderRequestParts {
            method: "GET",
            account: "acct",
            path: &path,
            query: &query,
            headers: &headers,
            version,
        };
        for scheme in [SharedKeyScheme::SharedKey, SharedKeyScheme::SharedKeyLite] {
            assert!(!parts.is_signed_by(scheme, "16CNuhjXXZfFgxWKnVlFYriufw6M3mWCahcc0KPe1l4=", &keys));
            let signature = keys[0].sign(&parts.string_to_sign(scheme));
            assert!(parts.is_signed_by(scheme, &signature, &keys));
        }
    });
}

#[test]
fn headers_and_small_values_never_panic() {
    const HEADER: &[&str] = &["SharedKey", "SharedKeyLite", "Bearer", " ", ":", "acct", "=", "é", "\t", "Basic"];
    const SMALL: &[&str] = &[
        "2019",
        "-",
        "02",
        "Wed, 01 Jan 2025 00:00:00 GMT",
        ",",
        " ",
        "Jan",
        "10.0.0.1",
        "::",
        "ffff",
        "é",
        "raud",
        "=",
    ];
    let now = DateTime::from_unix_seconds(1_735_689_600);
    for_each_seed(|numbers| {
        let header = String::from_utf8_lossy(&numbers.pieces(HEADER)).into_owned();
        let _ = parse_authorization(&header);
        for text in [numbers.bytes(), numbers.pieces(SMALL)] {
            let text = String::from_utf8_lossy(&text);
            let _ = parse_authorization(&text);
            let _ = check_request_date(&text, now);
            let _ = text.parse::<ServiceVersion>();
            let _ = IpRange::parse(&text);
            let _ = TablePermissions::parse(&text);
            let _ = AccountKey::parse(&text);
            assert!(!AccountKey::from_bytes(b"key").verify("text", &text));
        }
    });
}
