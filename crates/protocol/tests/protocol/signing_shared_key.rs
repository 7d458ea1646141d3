//! Shared Key and Shared Key Lite of the Table service, against signatures known to be right.

use tablerock_protocol::signing::{AccountKey, Authorization, SharedKeyScheme, TableRequestParts, parse_authorization};

const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const SHARED_KEY: SharedKeyScheme = SharedKeyScheme::SharedKey;
const LITE: SharedKeyScheme = SharedKeyScheme::SharedKeyLite;

fn key() -> AccountKey {
    AccountKey::parse(KEY).expect("the development key is good")
}

fn request<'a>(method: &'a str, path: &'a str) -> TableRequestParts<'a> {
    TableRequestParts {
        method,
        content_md5: "",
        content_type: "",
        date: "Wed, 01 Jan 2025 00:00:00 GMT",
        account: "devstoreaccount1",
        path,
        comp: None,
    }
}

fn is_signed(request: &TableRequestParts<'_>, scheme: SharedKeyScheme, signature: &str) -> bool {
    request.is_signed_by(scheme, signature, &[AccountKey::from_bytes(b"other"), key()], &mut String::new())
}

#[test]
fn known_signatures_verify() {
    let json = "application/json;odata=nometadata";
    let tables = request("GET", "/devstoreaccount1/Tables");
    let create = TableRequestParts { content_type: json, ..request("POST", "/devstoreaccount1/Tables") };
    let batch = request("POST", "/devstoreaccount1/$batch");
    let acl = TableRequestParts { comp: Some("acl"), ..request("GET", "/devstoreaccount1/People") };
    let properties = TableRequestParts { comp: Some("properties"), ..request("GET", "/devstoreaccount1/") };
    for (request, scheme, string_to_sign, signature) in [
        (
            tables,
            SHARED_KEY,
            "GET\n\n\nWed, 01 Jan 2025 00:00:00 GMT\n/devstoreaccount1/devstoreaccount1/Tables",
            "G8Vl8edRL3EpFJRT9yz1V5CVUXYttoz8vvrt0i/gf5k=",
        ),
        (
            create,
            SHARED_KEY,
            "POST\n\napplication/json;odata=nometadata\nWed, 01 Jan 2025 00:00:00 GMT\n\
             /devstoreaccount1/devstoreaccount1/Tables",
            "wzwnqfz3YDPrFp3Y1+sxjiPlP8V2Xn7y6BIMhDr4wnQ=",
        ),
        (
            batch,
            LITE,
            "Wed, 01 Jan 2025 00:00:00 GMT\n/devstoreaccount1/devstoreaccount1/$batch",
            "MoxN0J1iCZih4Wy8KxETsbij33RAYJ8U4bM2Cy0y/r0=",
        ),
        (
            acl,
            LITE,
            "Wed, 01 Jan 2025 00:00:00 GMT\n/devstoreaccount1/devstoreaccount1/People?comp=acl",
            "CS0YE/gGJM5Unh1Wb3OvKnGajR660I4pMVYADr3MUtk=",
        ),
        (
            properties,
            LITE,
            "Wed, 01 Jan 2025 00:00:00 GMT\n/devstoreaccount1/devstoreaccount1/?comp=properties",
            "MGH1MIwX1ICtOrQz92+qx6wbCti0MxorrlqbpeA3dzw=",
        ),
    ] {
        let mut built = String::new();
        request.append_string_to_sign(scheme, &mut built);
        assert_eq!(built, string_to_sign);
        assert_eq!(key().sign(string_to_sign), signature);
        assert!(is_signed(&request, scheme, signature));
        let authorization = request.authorization(scheme, &key());
        assert_eq!(
            parse_authorization(&authorization),
            Ok(Authorization::SharedKey { scheme, account: "devstoreaccount1", signature })
        );
    }
}

#[test]
fn every_signed_part_counts() {
    let signature = "G8Vl8edRL3EpFJRT9yz1V5CVUXYttoz8vvrt0i/gf5k=";
    let signed = request("GET", "/devstoreaccount1/Tables");
    for changed in [
        TableRequestParts { method: "DELETE", ..signed },
        TableRequestParts { content_md5: "x", ..signed },
        TableRequestParts { content_type: "x", ..signed },
        TableRequestParts { date: "Wed, 01 Jan 2025 00:00:01 GMT", ..signed },
        TableRequestParts { account: "devstoreaccount2", ..signed },
        TableRequestParts { path: "/devstoreaccount1/Tables()", ..signed },
        TableRequestParts { comp: Some("acl"), ..signed },
    ] {
        assert!(!is_signed(&changed, SHARED_KEY, signature), "{changed:?}");
    }
    assert!(!is_signed(&signed, LITE, signature));
}

#[test]
fn the_secondary_is_signed_with_its_own_path_or_the_primarys() {
    let sign = |path| {
        let mut text = String::new();
        request("GET", path).append_string_to_sign(LITE, &mut text);
        key().sign(&text)
    };
    for (received, primary) in [
        ("/devstoreaccount1-secondary/People", "/devstoreaccount1/People"),
        ("/devstoreaccount1-secondary/", "/devstoreaccount1/"),
        ("/devstoreaccount1-secondary", "/devstoreaccount1"),
    ] {
        assert!(is_signed(&request("GET", received), LITE, &sign(received)), "{received}");
        assert!(is_signed(&request("GET", received), LITE, &sign(primary)), "{received}");
        assert!(!is_signed(&request("GET", primary), LITE, &sign(received)), "{primary}");
    }
    let other_account = request("GET", "/devstoreaccount1-secondaryx/People");
    assert!(!is_signed(&other_account, LITE, &sign("/devstoreaccount1x/People")));
}

#[test]
fn the_lent_buffer_holds_nothing_of_an_earlier_request() {
    let mut scratch = "left over".to_owned();
    let signature = "MoxN0J1iCZih4Wy8KxETsbij33RAYJ8U4bM2Cy0y/r0=";
    assert!(request("POST", "/devstoreaccount1/$batch").is_signed_by(LITE, signature, &[key()], &mut scratch));
}
