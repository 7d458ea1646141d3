//! Get and Set Service Properties: the documents, what a Set keeps, and what it rejects.

use tablerock_protocol::cors::{CorsMethod, CorsRule};
use tablerock_protocol::xml::{
    AnalyticsVersion, DeleteRetention, Logging, Metrics, MetricsLevel, ServiceProperties, ServicePropertiesUpdate,
};
use tablerock_protocol::{ErrorCode, Service, ServiceVersion};

const FRESH: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Logging>\
    <Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete><RetentionPolicy>\
    <Enabled>false</Enabled></RetentionPolicy></Logging><HourMetrics><Version>1.0</Version><Enabled>true</Enabled>\
    <IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy>\
    </HourMetrics><MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy>\
    <Enabled>false</Enabled></RetentionPolicy></MinuteMetrics><Cors /></StorageServiceProperties>";

const BEFORE_CORS: ServiceVersion = ServiceVersion::TABLE_SAS;

fn update(sections: &str) -> Result<ServicePropertiesUpdate, ErrorCode> {
    update_in(sections, ServiceVersion::LATEST)
}

fn update_in(sections: &str, version: ServiceVersion) -> Result<ServicePropertiesUpdate, ErrorCode> {
    let document = format!("<StorageServiceProperties>{sections}</StorageServiceProperties>");
    ServicePropertiesUpdate::parse(document.as_bytes(), Service::Table, version).map_err(|error| error.code)
}

fn refusal(sections: &str) -> ErrorCode {
    update(sections).expect_err(sections)
}

fn rule(origins: &str, methods: &str, headers: &str, exposed: &str, max_age: &str) -> String {
    format!(
        "<CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}</AllowedMethods>\
         <AllowedHeaders>{headers}</AllowedHeaders><ExposedHeaders>{exposed}</ExposedHeaders>\
         <MaxAgeInSeconds>{max_age}</MaxAgeInSeconds></CorsRule>"
    )
}

fn cors(rules: &str) -> Result<Vec<CorsRule>, ErrorCode> {
    Ok(update(&format!("<Cors>{rules}</Cors>"))?.cors.expect("the section is there"))
}

fn full() -> ServiceProperties {
    ServiceProperties {
        logging: Logging {
            version: AnalyticsVersion::V2_0,
            read: true,
            write: false,
            delete: true,
            retention_days: Some(365),
        },
        hour_metrics: Metrics { level: MetricsLevel::Service, retention_days: Some(1), ..Metrics::default() },
        minute_metrics: Metrics { level: MetricsLevel::ServiceAndApis, ..Metrics::default() },
        cors: vec![
            CorsRule {
                allowed_origins: vec!["http://a.example".to_owned(), "http://b.example?x=<&>".to_owned()],
                allowed_methods: vec![CorsMethod::Get, CorsMethod::Patch, CorsMethod::Merge],
                allowed_headers: vec!["x-ms-meta-a".to_owned(), "x-ms-*".to_owned()],
                exposed_headers: vec!["*".to_owned()],
                max_age_seconds: 500,
            },
            CorsRule {
                allowed_origins: vec!["*".to_owned()],
                allowed_methods: vec![CorsMethod::Options],
                allowed_headers: Vec::new(),
                exposed_headers: Vec::new(),
                max_age_seconds: 0,
            },
        ],
        ..ServiceProperties::default()
    }
}

#[test]
fn a_new_account_has_the_services_defaults() {
    assert_eq!(ServiceProperties::default().render(Service::Table, ServiceVersion::LATEST), FRESH);
    assert_eq!(ServiceProperties::default().render(Service::Table, ServiceVersion::CORS), FRESH);
}

#[test]
fn before_cors_there_is_one_kind_of_metrics() {
    let document = ServiceProperties::default().render(Service::Table, BEFORE_CORS);
    let expected = "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Logging>\
        <Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete><RetentionPolicy>\
        <Enabled>false</Enabled></RetentionPolicy></Logging><Metrics><Version>1.0</Version><Enabled>true</Enabled>\
        <IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy>\
        </Metrics></StorageServiceProperties>";
    assert_eq!(document, expected);
    let update = ServicePropertiesUpdate::parse(document.as_bytes(), Service::Table, BEFORE_CORS).unwrap();
    assert_eq!(update.hour_metrics, Some(ServiceProperties::default().hour_metrics));
    assert_eq!((update.minute_metrics, update.cors), (None, None));
}

#[test]
fn what_is_rendered_reads_back() {
    for properties in [ServiceProperties::default(), full()] {
        let document = properties.render(Service::Table, ServiceVersion::LATEST);
        assert_eq!(ServiceProperties::parse(document.as_bytes(), Service::Table).unwrap(), properties);
        let with_mark = format!("\u{feff}{document}");
        assert_eq!(ServiceProperties::parse(with_mark.as_bytes(), Service::Table).unwrap(), properties);
    }
}

#[test]
fn an_update_is_rendered_with_its_sections_only() {
    let full = full();
    let updates = [
        ServicePropertiesUpdate { cors: Some(full.cors.clone()), ..Default::default() },
        ServicePropertiesUpdate { cors: Some(vec![]), logging: Some(full.logging.clone()), ..Default::default() },
        ServicePropertiesUpdate {
            hour_metrics: Some(full.hour_metrics.clone()),
            minute_metrics: Some(full.minute_metrics.clone()),
            ..Default::default()
        },
    ];
    for update in updates {
        let document = update.render(Service::Table);
        let read = ServicePropertiesUpdate::parse(document.as_bytes(), Service::Table, ServiceVersion::LATEST);
        assert_eq!(read.as_ref(), Ok(&update), "{document}");
    }
}

#[test]
fn rules_are_written_in_the_services_order() {
    let document = full().render(Service::Table, ServiceVersion::LATEST);
    let expected = "<CorsRule><AllowedMethods>GET,PATCH,MERGE</AllowedMethods>\
        <AllowedOrigins>http://a.example,http://b.example?x=&lt;&amp;&gt;</AllowedOrigins>\
        <AllowedHeaders>x-ms-meta-a,x-ms-*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders>\
        <MaxAgeInSeconds>500</MaxAgeInSeconds></CorsRule><CorsRule><AllowedMethods>OPTIONS</AllowedMethods>\
        <AllowedOrigins>*</AllowedOrigins><AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>0</MaxAgeInSeconds>\
        </CorsRule>";
    assert!(document.contains(expected), "{document}");
}

#[test]
fn sections_left_out_keep_their_value() {
    let mut properties = full();
    update(
        "<Logging><Version>1.0</Version><Read>True</Read><Write>FALSE</Write><Delete>false</Delete>\
            <RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>",
    )
    .unwrap()
    .apply(&mut properties);
    assert_eq!(properties, ServiceProperties { logging: Logging { read: true, ..Logging::default() }, ..full() });
    update("<Cors/>").unwrap().apply(&mut properties);
    assert_eq!(properties.cors, []);
    assert_eq!(properties.minute_metrics, full().minute_metrics);
}

#[test]
fn clients_liberties_are_accepted() {
    let metrics = |content: &str| update(&format!("<HourMetrics>{content}</HourMetrics>")).unwrap().hour_metrics;
    assert_eq!(metrics("<Enabled>false</Enabled><IncludeAPIs>false</IncludeAPIs>"), Some(Metrics::default()));
    assert_eq!(
        metrics("<RetentionPolicy><Days>0</Days><Enabled>false</Enabled></RetentionPolicy><Enabled>false</Enabled>"),
        Some(Metrics::default())
    );
    let spaced = cors(&rule(" http://a , http://b,, ", "GET, PUT", " x-ms-* ", "", " 5 ")).unwrap();
    assert_eq!(spaced[0].allowed_origins, ["http://a", "http://b"]);
    assert_eq!(spaced[0].allowed_methods, [CorsMethod::Get, CorsMethod::Put]);
    assert_eq!(spaced[0].allowed_headers, ["x-ms-*"]);
    assert_eq!(spaced[0].exposed_headers, [""; 0]);
    assert_eq!(spaced[0].max_age_seconds, 5);
}

#[test]
fn an_empty_document_is_refused() {
    assert_eq!(refusal(""), ErrorCode::InvalidXmlDocument);
    assert_eq!(refusal("text"), ErrorCode::InvalidXmlDocument);
    for document in ["", "<StorageServiceProperties/>", "<Other><Cors/></Other>", "<StorageServiceProperties><Cors/>"] {
        let refused =
            ServicePropertiesUpdate::parse(document.as_bytes(), Service::Table, ServiceVersion::LATEST).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidXmlDocument, "{document}");
    }
}

#[test]
fn retention_is_from_1_to_365_days() {
    let days = |days: &str| {
        update(&format!(
            "<MinuteMetrics><Enabled>false</Enabled><RetentionPolicy><Enabled>true</Enabled><Days>{days}</Days>\
             </RetentionPolicy></MinuteMetrics>"
        ))
        .map(|update| update.minute_metrics.unwrap().retention_days.unwrap())
    };
    assert_eq!((days("1"), days("365")), (Ok(1), Ok(365)));
    for out_of_range in ["0", "366", "-1", "65537", "4294967297"] {
        assert_eq!(days(out_of_range), Err(ErrorCode::InvalidXmlDocument), "{out_of_range}");
    }
    for unreadable in ["", "x", "1.5", "99999999999999999999"] {
        assert_eq!(days(unreadable), Err(ErrorCode::InvalidXmlNodeValue), "{unreadable}");
    }
}

#[test]
fn sections_must_be_complete() {
    for sections in [
        "<Logging><Version>1.0</Version></Logging>",
        "<Logging><Version>1.0</Version><Read>true</Read><Write>true</Write><Delete>true</Delete></Logging>",
        "<HourMetrics><Version>1.0</Version></HourMetrics>",
        "<HourMetrics><Version>1.0</Version><Enabled>true</Enabled></HourMetrics>",
        "<HourMetrics><Enabled>false</Enabled><RetentionPolicy/></HourMetrics>",
        "<HourMetrics><Enabled>false</Enabled><RetentionPolicy><Enabled>true</Enabled></RetentionPolicy></HourMetrics>",
        "<Cors><CorsRule/></Cors>",
        "<Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods></CorsRule></Cors>",
    ] {
        assert_eq!(refusal(sections), ErrorCode::MissingRequiredXmlNode, "{sections}");
    }
    assert_eq!(
        update_in(
            "<Metrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled>\
             </RetentionPolicy></Metrics>",
            BEFORE_CORS
        ),
        Err(ErrorCode::MissingRequiredXmlNode)
    );
}

#[test]
fn unknown_nodes_are_refused() {
    for sections in [
        "<DefaultServiceVersion>2019-02-02</DefaultServiceVersion>",
        "<Metrics><Enabled>false</Enabled></Metrics>",
        "<HourMetrics><Enabled>false</Enabled><Days>1</Days></HourMetrics>",
        "<Cors><Rule/></Cors>",
    ] {
        assert_eq!(refusal(sections), ErrorCode::UnsupportedXmlNode, "{sections}");
    }
    assert_eq!(update_in("<Cors/>", BEFORE_CORS), Err(ErrorCode::UnsupportedXmlNode));
}

#[test]
fn contradictions_are_refused() {
    for sections in [
        "<Cors/><Cors/>",
        "<HourMetrics><Enabled>false</Enabled><IncludeAPIs>true</IncludeAPIs></HourMetrics>",
        "<HourMetrics><Enabled>false</Enabled><Enabled>false</Enabled></HourMetrics>",
        "<HourMetrics><Enabled><x/>false</Enabled></HourMetrics>",
        "<HourMetrics>text<Enabled>false</Enabled></HourMetrics>",
        "<Cors>text</Cors>",
    ] {
        assert_eq!(refusal(sections), ErrorCode::InvalidXmlDocument, "{sections}");
    }
}

#[test]
fn values_that_cannot_be_read_are_refused() {
    for sections in [
        "<HourMetrics><Enabled>yes</Enabled></HourMetrics>",
        "<HourMetrics><Enabled/></HourMetrics>",
        "<HourMetrics><Version>3.0</Version><Enabled>false</Enabled></HourMetrics>",
    ] {
        assert_eq!(refusal(sections), ErrorCode::InvalidXmlNodeValue, "{sections}");
    }
    for bad_rule in [
        rule("*", "GET,FROB", "", "", "1"),
        rule("*", "get", "", "", "1"),
        rule("*", "GET", "a*b", "", "1"),
        rule("*", "GET", "", "**", "1"),
        rule("*", "GET", "é", "", "1"),
        rule("http://a&#10;b", "GET", "", "", "1"),
        rule("*", "GET", "", "", "-1"),
        rule("*", "GET", "", "", "2147483648"),
        rule("*", "GET", "", "", ""),
    ] {
        assert_eq!(cors(&bad_rule), Err(ErrorCode::InvalidXmlNodeValue), "{bad_rule}");
    }
}

#[test]
fn rules_have_limits() {
    let good = rule("*", "GET", "", "", "1");
    assert_eq!(cors(&good.repeat(5)).map(|rules| rules.len()), Ok(5));
    let list = |count: usize, entry: &str| vec![entry; count].join(",");
    for accepted in [
        rule(&list(64, "http://a"), "GET", "", "", "1"),
        rule("*", "GET", &list(64, "a"), &format!("{},b*,c*,*", list(64, "a")), "1"),
        rule(&"a".repeat(256), "GET", "", "", "1"),
    ] {
        assert!(cors(&accepted).is_ok(), "{accepted}");
    }
    for refused in [
        good.repeat(6),
        rule("", "GET", "", "", "1"),
        rule("*", "", "", "", "1"),
        rule(&"a".repeat(257), "GET", "", "", "1"),
        rule(&list(8, &"a".repeat(256)), "GET", "", "", "1"),
    ] {
        assert_eq!(cors(&refused), Err(ErrorCode::InvalidXmlDocument), "{refused}");
    }
    for refused in [
        rule(&list(65, "http://a"), "GET", "", "", "1"),
        rule("*", "GET", &list(65, "a"), "", "1"),
        rule("*", "GET", "", "a*,b*,c*", "1"),
    ] {
        assert_eq!(cors(&refused), Err(ErrorCode::InvalidXmlNodeValue), "{refused}");
    }
}

#[test]
fn blobs_have_sections_that_the_other_services_refuse() {
    let document = "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>\
                    </DeleteRetentionPolicy><StaticWebsite><Enabled>True</Enabled><IndexDocument>index.html</IndexDocument>\
                    <ErrorDocument404Path /></StaticWebsite><DefaultServiceVersion>2019-02-02</DefaultServiceVersion>\
                    </StorageServiceProperties>";
    let properties = ServiceProperties::parse(document.as_bytes(), Service::Blob).unwrap();
    assert_eq!(properties.delete_retention, DeleteRetention { days: Some(7), allow_permanent_delete: false });
    assert_eq!(properties.static_website.index_document.as_deref(), Some("index.html"));
    assert_eq!(properties.static_website.error_document_404_path, None);
    assert_eq!(properties.default_service_version, "2019-02-02".parse().ok());
    let rendered = properties.render(Service::Blob, ServiceVersion::LATEST);
    assert_eq!(ServiceProperties::parse(rendered.as_bytes(), Service::Blob), Ok(properties.clone()));
    let sections = ["<Logging>", "<HourMetrics>", "<MinuteMetrics>", "<Cors />", "<DeleteRetentionPolicy>"];
    let sections = sections.into_iter().chain(["<StaticWebsite>", "<DefaultServiceVersion>"]);
    let places: Vec<_> = sections.map(|section| rendered.find(section).expect(section)).collect();
    assert!(places.is_sorted(), "{rendered}");
    for other in [Service::Queue, Service::Table] {
        assert!(ServiceProperties::parse(document.as_bytes(), other).is_err(), "{other:?}");
        assert!(!properties.render(other, ServiceVersion::LATEST).contains("DefaultServiceVersion"), "{other:?}");
    }
    let days = document.replace("<Days>7<", "<Days>366<");
    let refused = ServiceProperties::parse(days.as_bytes(), Service::Blob).unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidXmlDocument);
}
