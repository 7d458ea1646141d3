//! Which CORS rule matches a request, and the response headers it gives.

use tablerock_protocol::cors::{
    CorsMethod, CorsRule, Preflight, PreflightAnswer, PreflightError, answer_preflight, answer_request,
};
use tablerock_protocol::{ErrorCode, ServiceError};

fn rule(origins: &[&str], methods: &[CorsMethod], headers: &[&str], max_age_seconds: u32) -> CorsRule {
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    CorsRule {
        allowed_origins: owned(origins),
        allowed_methods: methods.to_vec(),
        allowed_headers: owned(headers),
        exposed_headers: owned(&["x-ms-*", "Date"]),
        max_age_seconds,
    }
}

fn rules() -> Vec<CorsRule> {
    vec![
        rule(&["http://a.example", "http://b.example"], &[CorsMethod::Get], &["x-ms-meta-*", "accept"], 1),
        rule(&["http://a.example"], &[CorsMethod::Get, CorsMethod::Put], &["*"], 2),
        rule(&["*"], &[CorsMethod::Merge], &[], 3),
    ]
}

fn preflight<'a>(
    rules: &'a [CorsRule],
    origin: &'a str,
    method: &'a str,
    headers: Option<&'a str>,
) -> Result<PreflightAnswer<'a>, PreflightError> {
    answer_preflight(rules, &Preflight { origin: Some(origin), method: Some(method), headers })
}

#[test]
fn the_first_rule_that_allows_everything_answers() {
    let rules = rules();
    let first = preflight(&rules, "http://b.example", "GET", Some("X-MS-Meta-One, ACCEPT")).unwrap();
    let expected = PreflightAnswer {
        allow_origin: "http://b.example",
        allow_methods: "GET",
        allow_headers: Some("X-MS-Meta-One, ACCEPT"),
        max_age_seconds: 1,
        allow_credentials: true,
    };
    assert_eq!(first, expected);
    let max_age = |origin, method, headers| preflight(&rules, origin, method, headers).map(|a| a.max_age_seconds);
    assert_eq!(max_age("http://a.example", "GET", None), Ok(1));
    assert_eq!(max_age("http://a.example", "GET", Some("authorization")), Ok(2));
    assert_eq!(max_age("http://a.example", "PUT", Some("")), Ok(2));
    assert_eq!(max_age("http://any.example", "MERGE", None), Ok(3));
}

#[test]
fn a_rule_for_any_origin_answers_with_a_star_and_no_credentials() {
    let rules = rules();
    let answer = preflight(&rules, "http://any.example", "MERGE", None).unwrap();
    assert_eq!((answer.allow_origin, answer.allow_credentials), ("*", false));
    assert_eq!(answer.allow_headers, None);
}

#[test]
fn what_no_rule_allows_is_refused() {
    let rules = rules();
    for (origin, method, headers) in [
        ("http://c.example", "GET", None),
        ("http://A.example", "GET", None),
        ("http://b.example", "PUT", None),
        ("http://b.example", "GET", Some("authorization")),
        ("http://b.example", "GET", Some("x-ms-meta")),
        ("http://b.example", "get", None),
        ("http://any.example", "MERGE", Some("accept")),
        ("http://a.example", "TRACE", None),
    ] {
        let refused = preflight(&rules, origin, method, headers);
        assert_eq!(refused, Err(PreflightError::NoMatchingRule), "{origin} {method} {headers:?}");
    }
    assert_eq!(preflight(&[], "http://a.example", "GET", None), Err(PreflightError::NoMatchingRule));
    let error = ServiceError::from(PreflightError::NoMatchingRule);
    assert_eq!((error.code, error.status), (ErrorCode::CorsPreflightFailure, 403));
}

#[test]
fn origin_and_method_are_required() {
    let rules = rules();
    for (origin, method) in [(None, Some("GET")), (Some("http://a.example"), None), (Some(" "), Some("GET"))] {
        let refused = answer_preflight(&rules, &Preflight { origin, method, headers: None });
        assert_eq!(refused, Err(PreflightError::MissingHeader));
    }
    let error = ServiceError::from(PreflightError::MissingHeader);
    assert_eq!(error.code, ErrorCode::InvalidHeaderValue);
    assert_eq!(error.message, "A required CORS header is not present.");
}

#[test]
fn an_actual_request_is_answered_for_its_origin() {
    let rules = rules();
    let answer = answer_request(&rules, Some("http://b.example"), "GET");
    let allowance = answer.allowance.unwrap();
    assert_eq!((allowance.allow_origin, allowance.allow_credentials), ("http://b.example", true));
    assert!(answer.vary_origin);
    let any = answer_request(&rules, Some("http://b.example"), "MERGE").allowance.unwrap();
    assert_eq!((any.allow_origin, any.allow_credentials), ("*", false));
}

#[test]
fn headers_are_exposed_by_name() {
    let rules = rules();
    let allowance = answer_request(&rules, Some("http://a.example"), "GET").allowance.unwrap();
    let sent = ["Cache-Control", "Content-Type", "X-Ms-Version", "x-ms-request-id", "date", "Server"];
    assert_eq!(allowance.expose_headers(sent).as_deref(), Some("X-Ms-Version,x-ms-request-id,date"));
    assert_eq!(allowance.expose_headers(["Server"]), None);
    let all = CorsRule { exposed_headers: vec!["*".to_owned()], ..rules[0].clone() };
    let allowance = answer_request(std::slice::from_ref(&all), Some("http://a.example"), "GET").allowance.unwrap();
    assert_eq!(allowance.expose_headers(sent).as_deref(), Some("X-Ms-Version,x-ms-request-id,date,Server"));
}

#[test]
fn caches_are_told_when_an_answer_depends_on_the_origin() {
    let exact = vec![rule(&["http://a.example"], &[CorsMethod::Get, CorsMethod::Put], &[], 1)];
    let any = vec![rule(&["*"], &[CorsMethod::Get], &[], 1)];
    for (rules, origin, method, vary) in [
        (&exact, Some("http://a.example"), "GET", true),
        (&exact, Some("http://a.example"), "PUT", false),
        (&exact, Some("http://c.example"), "GET", true),
        (&exact, Some("http://c.example"), "HEAD", true),
        (&exact, Some("http://c.example"), "DELETE", false),
        (&exact, None, "GET", true),
        (&any, Some("http://c.example"), "GET", false),
        (&Vec::new(), Some("http://a.example"), "GET", false),
    ] {
        assert_eq!(answer_request(rules, origin, method).vary_origin, vary, "{origin:?} {method}");
    }
    assert_eq!(answer_request(&exact, Some("http://c.example"), "GET").allowance, None);
}
