//! Shared Key and Shared Key Lite of queues and blobs, against signatures known to be right.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use tablerock_protocol::signing::{AccountKey, HeaderRequestParts, SharedKeyScheme};
use tablerock_protocol::{QueryString, ServiceVersion};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DATE: &str = "Wed, 01 Jan 2025 00:00:00 GMT";
const SHARED_KEY: SharedKeyScheme = SharedKeyScheme::SharedKey;
const LITE: SharedKeyScheme = SharedKeyScheme::SharedKeyLite;

fn key() -> AccountKey {
    AccountKey::parse(KEY).expect("the development key is good")
}

/// A request, with its target as on the wire and its headers.
struct Sent {
    method: &'static str,
    path: &'static str,
    query: &'static str,
    headers: Vec<(&'static str, &'static str)>,
}

impl Sent {
    fn parts<T>(&self, look: impl FnOnce(&HeaderRequestParts<'_>) -> T) -> T {
        let version = self.headers.iter().find(|(name, _)| *name == "x-ms-version").expect("a version").1;
        look(&HeaderRequestParts {
            method: self.method,
            account: ACCOUNT,
            path: self.path,
            query: &QueryString::parse(self.query).unwrap(),
            headers: &self.headers,
            version: version.parse::<ServiceVersion>().unwrap(),
        })
    }

    fn string_to_sign(&self, scheme: SharedKeyScheme) -> String {
        self.parts(|parts| parts.string_to_sign(scheme))
    }

    fn is_signed(&self, scheme: SharedKeyScheme, signature: &str) -> bool {
        let keys = [AccountKey::from_bytes(b"other"), key()];
        self.parts(|parts| parts.is_signed_by(scheme, signature, &keys))
    }

    /// Whether a signature over this string is valid for the request.
    fn accepts(&self, string_to_sign: &str) -> bool {
        self.is_signed(SHARED_KEY, &key().sign(string_to_sign))
    }
}

fn list() -> Sent {
    Sent {
        method: "GET",
        path: "/devstoreaccount1/photos",
        query: "restype=container&comp=list&include=snapshots&Include=metadata",
        headers: vec![("x-ms-date", DATE), ("x-ms-version", "2021-12-02"), ("accept", "application/xml")],
    }
}

fn put() -> Sent {
    Sent {
        method: "PUT",
        path: "/devstoreaccount1/photos/a%20b",
        query: "",
        headers: vec![
            ("x-ms-version", "2021-12-02"),
            ("x-ms-meta-a-b", "2"),
            ("x-ms-meta-aa", "1"),
            ("x-ms-date", DATE),
            ("x-ms-blob-type", "BlockBlob"),
            ("content-length", "11"),
            ("content-type", "text/plain"),
            ("if-none-match", "*"),
        ],
    }
}

#[test]
fn known_signatures_verify() {
    let create_queue = Sent {
        method: "PUT",
        path: "/devstoreaccount1/jobs",
        query: "",
        headers: vec![("date", DATE), ("content-length", "0"), ("x-ms-empty", ""), ("x-ms-version", "2014-02-14")],
    };
    let lite = Sent {
        method: "DELETE",
        path: "/devstoreaccount1/jobs",
        query: "comp=metadata&timeout=5",
        headers: vec![("x-ms-date", DATE), ("x-ms-version", "2021-12-02"), ("if-match", "*")],
    };
    for (sent, scheme, string_to_sign, signature) in [
        (
            list(),
            SHARED_KEY,
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Wed, 01 Jan 2025 00:00:00 GMT\nx-ms-version:2021-12-02\n\
             /devstoreaccount1/devstoreaccount1/photos\ncomp:list\ninclude:metadata,snapshots\nrestype:container",
            "Ea3a5D55hQFJYtMFctl5RWufVfrac6ByOvji4ll+zW8=",
        ),
        (
            put(),
            SHARED_KEY,
            "PUT\n\n\n11\n\ntext/plain\n\n\n\n*\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:Wed, 01 Jan 2025 00:00:00 \
             GMT\nx-ms-meta-aa:1\nx-ms-meta-a-b:2\nx-ms-version:2021-12-02\n\
             /devstoreaccount1/devstoreaccount1/photos/a%20b",
            "VUxBxwv/KezmfsTM/pRTKbNrcK9pWMaxloGLwPV7Z5M=",
        ),
        (
            create_queue,
            SHARED_KEY,
            "PUT\n\n\n0\n\n\nWed, 01 Jan 2025 00:00:00 GMT\n\n\n\n\n\nx-ms-version:2014-02-14\n\
             /devstoreaccount1/devstoreaccount1/jobs",
            "fjx4AZV4PHzFKBV1K6eIGLcgRd4GGs6EHn/54nZxi1I=",
        ),
        (
            lite,
            LITE,
            "DELETE\n\n\n\nx-ms-date:Wed, 01 Jan 2025 00:00:00 GMT\nx-ms-version:2021-12-02\n\
             /devstoreaccount1/devstoreaccount1/jobs?comp=metadata",
            "N7fZseFY5ujf7Pg7ez0d3ZnX52l0fsjg8cT5ggJKlsI=",
        ),
    ] {
        assert_eq!(sent.string_to_sign(scheme), string_to_sign);
        assert!(sent.is_signed(scheme, signature), "{string_to_sign}");
        let authorization = sent.parts(|parts| parts.authorization(scheme, &key()));
        assert_eq!(authorization, format!("{} {ACCOUNT}:{signature}", scheme.name()));
    }
}

#[test]
fn every_signed_part_counts() {
    let signature = key().sign(&put().string_to_sign(SHARED_KEY));
    let changed = |change: &dyn Fn(&mut Sent)| {
        let mut sent = put();
        change(&mut sent);
        sent.is_signed(SHARED_KEY, &signature)
    };
    assert!(changed(&|_| {}));
    assert!(changed(&|sent| sent.headers.push(("user-agent", "x"))), "a header that is not signed");
    assert!(!changed(&|sent| sent.method = "POST"));
    assert!(!changed(&|sent| sent.path = "/devstoreaccount1/photos/a"));
    assert!(!changed(&|sent| sent.query = "comp=metadata"));
    for place in 1..put().headers.len() {
        assert!(!changed(&|sent| sent.headers[place].1 = "other"), "{:?}", put().headers[place]);
        assert!(!changed(&|sent| sent.headers[place].0 = "unsigned"), "{:?}", put().headers[place]);
    }
    for added in ["content-encoding", "content-md5", "if-match", "if-modified-since", "range", "x-ms-lease-id"] {
        assert!(!changed(&|sent| sent.headers.push((added, "x"))), "{added}");
    }
    assert!(!put().is_signed(LITE, &signature));
}

#[test]
fn a_client_that_sorts_bytes_is_understood() {
    let collated = put().string_to_sign(SHARED_KEY);
    let sorted = collated.replace("x-ms-meta-aa:1\nx-ms-meta-a-b:2\n", "x-ms-meta-a-b:2\nx-ms-meta-aa:1\n");
    assert_ne!(sorted, collated);
    assert!(put().accepts(&sorted));
    let neither = collated
        .replace("x-ms-blob-type:BlockBlob\n", "")
        .replace("x-ms-version", "x-ms-blob-type:BlockBlob\nx-ms-version");
    assert!(!put().accepts(&neither));
}

#[test]
fn encoding_and_language_may_change_places() {
    let mut sent = put();
    sent.headers.extend([("content-encoding", "gzip"), ("content-language", "de")]);
    let own = sent.string_to_sign(SHARED_KEY);
    assert!(own.starts_with("PUT\ngzip\nde\n11\n"));
    assert!(sent.accepts(&own));
    assert!(sent.accepts(&own.replace("PUT\ngzip\nde\n", "PUT\nde\ngzip\n")));
    assert!(!sent.accepts(&own.replace("PUT\ngzip\nde\n", "PUT\n\nde\n")));
}

#[test]
fn beside_an_x_ms_date_the_other_one_may_be_signed_or_not() {
    let mut sent = list();
    sent.headers.push(("date", "Wed, 01 Jan 2025 00:00:01 GMT"));
    let own = sent.string_to_sign(SHARED_KEY);
    assert_eq!(own, list().string_to_sign(SHARED_KEY));
    assert!(sent.accepts(&own));
    assert!(sent.accepts(&own.replacen("\n\n\n\n\n\n\n", "\n\n\n\n\n\nWed, 01 Jan 2025 00:00:01 GMT\n", 1)));
}

#[test]
fn white_space_is_collapsed_outside_quotes_or_kept() {
    let mut sent = list();
    sent.headers.push(("x-ms-meta-a", "one  two\tthree \"four  five\""));
    let own = sent.string_to_sign(SHARED_KEY);
    assert!(own.contains("x-ms-meta-a:one two three \"four  five\"\n"), "{own}");
    assert!(sent.accepts(&own));
    assert!(sent.accepts(&own.replace("one two three", "one  two\tthree")));
}

#[test]
fn an_empty_header_is_signed_from_2016_on_and_a_length_of_zero_until_2015() {
    let with = |version| {
        let mut sent = list();
        sent.headers = vec![("x-ms-meta-a", ""), ("content-length", "0"), ("x-ms-version", version)];
        sent.string_to_sign(SHARED_KEY)
    };
    assert!(with("2016-05-31").contains("\nx-ms-meta-a:\n"));
    assert!(!with("2015-12-11").contains("x-ms-meta-a"));
    assert!(with("2015-02-21").starts_with("GET\n\n\n\n"));
    assert!(with("2014-02-14").starts_with("GET\n\n\n0\n"));
}

#[test]
fn the_secondary_is_signed_with_its_own_path_or_the_primarys() {
    let mut sent = list();
    sent.path = "/devstoreaccount1-secondary/photos";
    let own = sent.string_to_sign(SHARED_KEY);
    assert!(sent.accepts(&own));
    assert!(sent.accepts(&list().string_to_sign(SHARED_KEY)));
    assert!(!list().accepts(&own));
}

#[test]
fn a_root_without_a_path_is_signed_with_its_slash() {
    let sent = Sent { path: "", query: "comp=list", ..list() };
    assert!(sent.string_to_sign(SHARED_KEY).ends_with("\n/devstoreaccount1/\ncomp:list"));
}
