//! Get and Set Table Service Properties, and Stats.

use crate::expect::{ensure, equal};
use crate::xml::Element;
use crate::{Outcome, Session, cases};

cases! {
    GetTableServiceProperties {
        properties_are_an_xml_document_with_four_sections,
        include_apis_and_days_appear_only_when_enabled,
        properties_before_2013_have_metrics_only,
    }
    SetTableServiceProperties {
        setting_properties_is_accepted_without_a_body_in_return,
        every_section_comes_back_as_it_was_set,
        sections_left_out_keep_their_value,
        an_empty_cors_section_removes_all_rules,
        include_apis_may_be_sent_while_disabled,
        an_empty_root_element_is_refused,
        retention_above_365_days_is_refused,
        retention_of_0_days_is_refused,
        malformed_properties_are_refused,
        enabled_metrics_need_include_apis,
        five_cors_rules_are_accepted,
        six_cors_rules_are_refused,
        a_cors_rule_needs_all_its_elements,
        a_cors_rule_with_an_unknown_method_is_refused,
        refused_properties_change_nothing,
    }
    GetTableServiceStats {
        stats_come_from_the_secondary,
        stats_of_the_primary_are_refused,
    }
}

const INVALID: &str = "XML specified is not syntactically valid.";

async fn properties(at: &Session) -> Outcome<Element> {
    at.get_properties().send().await?.expect(200)?.xml()
}

async fn set(at: &Session, sections: &str) -> Outcome {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties>{sections}</StorageServiceProperties>"
    );
    at.set_properties(&body).send().await?.expect(202)?;
    Ok(())
}

async fn expect_refused(at: &Session, sections: &str, accepted: &[(u16, &str)]) -> Outcome {
    at.borrow_properties().await?;
    let body = format!("<StorageServiceProperties>{sections}</StorageServiceProperties>");
    at.set_properties(&body).send().await?.expect_any_code(accepted)?;
    Ok(())
}

fn rule(origin: &str) -> String {
    format!(
        "<CorsRule><AllowedOrigins>{origin}</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>\
         <MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders>x-ms-*</ExposedHeaders>\
         <AllowedHeaders>x-ms-*,accept</AllowedHeaders></CorsRule>"
    )
}

async fn properties_are_an_xml_document_with_four_sections(at: &Session) -> Outcome {
    let response = at.get_properties().send().await?;
    response.expect(200)?.expect_header("Content-Type", "application/xml")?;
    let text = response.text();
    let declared = text.trim_start_matches('\u{feff}').starts_with("<?xml version=\"1.0\"");
    ensure(declared, || format!("no XML declaration: {text}"))?;
    let root = response.xml()?;
    equal("root", root.name.as_str(), "StorageServiceProperties")?;
    let mut sections = root.names();
    sections.sort_unstable();
    equal("sections", sections, ["Cors", "HourMetrics", "Logging", "MinuteMetrics"])?;
    let mut logging = root.child("Logging").map(Element::names).unwrap_or_default();
    logging.sort_unstable();
    equal("logging", logging, ["Delete", "Read", "RetentionPolicy", "Version", "Write"])
}

const ON: &str = "<Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>\
    <RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy>";
const OFF: &str = "<Version>1.0</Version><Enabled>false</Enabled>\
    <RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>";

async fn include_apis_and_days_appear_only_when_enabled(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    set(at, &format!("<HourMetrics>{ON}</HourMetrics><MinuteMetrics>{OFF}</MinuteMetrics>")).await?;
    let root = properties(at).await?;
    equal("IncludeAPIs of hours", root.at("HourMetrics/IncludeAPIs"), Some("false"))?;
    equal("days of hours", root.at("HourMetrics/RetentionPolicy/Days"), Some("5"))?;
    equal("IncludeAPIs of minutes", root.at("MinuteMetrics/IncludeAPIs"), None)?;
    equal("days of minutes", root.at("MinuteMetrics/RetentionPolicy/Days"), None)
}

async fn properties_before_2013_have_metrics_only(at: &Session) -> Outcome {
    let root = at.get_properties().version("2012-02-12").send().await?.expect(200)?.xml()?;
    equal("sections", root.names(), ["Logging", "Metrics"])
}

async fn setting_properties_is_accepted_without_a_body_in_return(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    let body = "<StorageServiceProperties><Cors /></StorageServiceProperties>";
    at.set_properties(body).send().await?.expect(202)?.expect_no_body()?;
    Ok(())
}

async fn every_section_comes_back_as_it_was_set(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    let logging = "<Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>true</Write>\
        <RetentionPolicy><Enabled>true</Enabled><Days>365</Days></RetentionPolicy>";
    let cors = rule("http://one.example,http://two.example");
    set(
        at,
        &format!(
            "<Logging>{logging}</Logging><HourMetrics>{ON}</HourMetrics><MinuteMetrics>{ON}</MinuteMetrics>\
             <Cors>{cors}</Cors>"
        ),
    )
    .await?;
    let root = properties(at).await?;
    let expected = [
        ("Logging/Read", "false"),
        ("Logging/Write", "true"),
        ("Logging/Delete", "true"),
        ("Logging/RetentionPolicy/Days", "365"),
        ("HourMetrics/Enabled", "true"),
        ("HourMetrics/RetentionPolicy/Days", "5"),
        ("MinuteMetrics/Enabled", "true"),
        ("MinuteMetrics/IncludeAPIs", "false"),
        ("Cors/CorsRule/AllowedOrigins", "http://one.example,http://two.example"),
        ("Cors/CorsRule/AllowedMethods", "GET,PUT"),
        ("Cors/CorsRule/AllowedHeaders", "x-ms-*,accept"),
        ("Cors/CorsRule/ExposedHeaders", "x-ms-*"),
        ("Cors/CorsRule/MaxAgeInSeconds", "60"),
    ];
    for (path, value) in expected {
        equal(path, root.at(path), Some(value))?;
    }
    Ok(())
}

async fn sections_left_out_keep_their_value(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    set(at, &format!("<HourMetrics>{ON}</HourMetrics><Cors>{}</Cors>", rule("http://kept.example"))).await?;
    set(at, &format!("<MinuteMetrics>{OFF}</MinuteMetrics>")).await?;
    let root = properties(at).await?;
    equal("hour metrics", root.at("HourMetrics/RetentionPolicy/Days"), Some("5"))?;
    equal("cors", root.at("Cors/CorsRule/AllowedOrigins"), Some("http://kept.example"))
}

async fn an_empty_cors_section_removes_all_rules(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    set(at, &format!("<Cors>{}</Cors>", rule("*"))).await?;
    set(at, "<Cors />").await?;
    equal("rules", properties(at).await?.at("Cors/CorsRule"), None)
}

async fn include_apis_may_be_sent_while_disabled(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    let metrics = OFF.replace("</Enabled><Ret", "</Enabled><IncludeAPIs>false</IncludeAPIs><Ret");
    set(at, &format!("<HourMetrics>{metrics}</HourMetrics>")).await
}

async fn expect_invalid_document(at: &Session, body: &str) -> Outcome {
    at.borrow_properties().await?;
    let response = at.set_properties(body).send().await?;
    response
        .expect_error(400, "InvalidXmlDocument", INVALID)?
        .expect_header("x-ms-error-code", "InvalidXmlDocument")?;
    equal("root of the error", response.xml()?.name.as_str(), "m:error")
}

async fn an_empty_root_element_is_refused(at: &Session) -> Outcome {
    expect_invalid_document(at, "<StorageServiceProperties />").await
}

fn with_days(days: &str) -> String {
    format!("<HourMetrics>{}</HourMetrics>", ON.replace("<Days>5<", &format!("<Days>{days}<")))
}

async fn retention_above_365_days_is_refused(at: &Session) -> Outcome {
    let body = format!("<StorageServiceProperties>{}</StorageServiceProperties>", with_days("366"));
    expect_invalid_document(at, &body).await
}

async fn retention_of_0_days_is_refused(at: &Session) -> Outcome {
    expect_refused(at, &with_days("0"), &[(400, "InvalidXmlDocument"), (400, "InvalidXmlNodeValue")]).await
}

async fn malformed_properties_are_refused(at: &Session) -> Outcome {
    expect_invalid_document(at, "<StorageServiceProperties><Cors>").await
}

const REFUSED_NODE: &[(u16, &str)] =
    &[(400, "InvalidXmlDocument"), (400, "MissingRequiredXmlNode"), (400, "InvalidXmlNodeValue")];

async fn enabled_metrics_need_include_apis(at: &Session) -> Outcome {
    let metrics = ON.replace("<IncludeAPIs>false</IncludeAPIs>", "");
    expect_refused(at, &format!("<HourMetrics>{metrics}</HourMetrics>"), REFUSED_NODE).await
}

async fn five_cors_rules_are_accepted(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    set(at, &format!("<Cors>{}</Cors>", rule("*").repeat(5))).await?;
    equal("rules", properties(at).await?.child("Cors").map(|cors| cors.children.len()), Some(5))
}

async fn six_cors_rules_are_refused(at: &Session) -> Outcome {
    expect_refused(at, &format!("<Cors>{}</Cors>", rule("*").repeat(6)), &[(400, "InvalidXmlDocument")]).await
}

async fn a_cors_rule_needs_all_its_elements(at: &Session) -> Outcome {
    let incomplete = rule("*").replace("<MaxAgeInSeconds>60</MaxAgeInSeconds>", "");
    expect_refused(at, &format!("<Cors>{incomplete}</Cors>"), REFUSED_NODE).await
}

async fn a_cors_rule_with_an_unknown_method_is_refused(at: &Session) -> Outcome {
    let odd = rule("*").replace("GET,PUT", "GET,FROB");
    expect_refused(at, &format!("<Cors>{odd}</Cors>"), REFUSED_NODE).await
}

async fn refused_properties_change_nothing(at: &Session) -> Outcome {
    at.borrow_properties().await?;
    set(at, &format!("<HourMetrics>{ON}</HourMetrics><Cors />")).await?;
    let half_good = format!("<Cors>{}</Cors>{}", rule("*"), with_days("366"));
    let body = format!("<StorageServiceProperties>{half_good}</StorageServiceProperties>");
    at.set_properties(&body).send().await?.expect(400)?;
    let root = properties(at).await?;
    equal("rules", root.at("Cors/CorsRule"), None)?;
    equal("days", root.at("HourMetrics/RetentionPolicy/Days"), Some("5"))
}

async fn stats_come_from_the_secondary(at: &Session) -> Outcome {
    let request = at.get("/").raw_query("restype=service&comp=stats").accept("application/xml").at_secondary();
    let response = request.send().await?;
    let root = response.expect(200)?.expect_header("Content-Type", "application/xml")?.xml()?;
    equal("root", root.name.as_str(), "StorageServiceStats")?;
    let status = root.at("GeoReplication/Status").unwrap_or_default();
    ensure(["live", "bootstrap", "unavailable"].contains(&status), || format!("status {status:?}"))?;
    let synced = root.at("GeoReplication/LastSyncTime").unwrap_or("(absent)");
    let well_formed = if status == "live" { httpdate::parse_http_date(synced).is_ok() } else { synced.is_empty() };
    ensure(well_formed, || format!("LastSyncTime {synced:?} with status {status}"))
}

async fn stats_of_the_primary_are_refused(at: &Session) -> Outcome {
    let response = at.get("/").raw_query("restype=service&comp=stats").accept("application/xml").send().await?;
    let message = "Value for one of the query parameters specified in the request URI is invalid.";
    response.expect_error(400, "InvalidQueryParameterValue", message)?;
    Ok(())
}
