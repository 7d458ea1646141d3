//! Find Blobs by Tags: expressions, pages, the tags' own changes, and who may search.

use crate::container::{Container, names};
use crate::expect::{ensure, equal};
use crate::request::Request;
use crate::sas::{AccountSas, BlobSas};
use crate::{Outcome, Session, cases};

cases! {
    FindBlobsByTags {
        a_search_finds_blobs_and_the_tags_it_names,
        a_search_in_a_container_finds_only_its_blobs,
        a_search_compares_as_text,
        a_search_combines_conditions,
        a_search_with_a_page_size_says_where_the_next_page_starts,
        a_search_of_an_old_version_has_one_value,
        a_search_follows_every_change_of_tags,
        a_search_finds_append_blobs_and_block_lists,
        a_search_finds_no_snapshot,
        a_search_without_an_expression_is_refused,
        a_search_with_a_wrong_expression_is_refused,
        a_search_with_a_wrong_marker_is_refused,
        a_search_in_a_missing_container_is_not_found,
        a_search_needs_its_own_permission,
    }
}

/// A search in a container.
fn find<'s>(container: &Container<'s>, expression: &str) -> Outcome<Request<'s>> {
    Ok(container.on("GET", "blobs")?.query("where", expression))
}

async fn found(container: &Container<'_>, expression: &str) -> Outcome<Vec<String>> {
    names(&find(container, expression)?.send().await?)
}

async fn seed(container: &Container<'_>, name: &str, tags: &str) -> Outcome {
    container.put(name, "x")?.header("x-ms-tags", tags).send().await?.expect(201)?;
    Ok(())
}

/// Blobs of the case's own container have a tag of their own, so that a search of the account finds no others.
fn own_tag(container: &Container<'_>) -> String {
    format!("t{}", container.name.replace('-', ""))
}

async fn a_search_finds_blobs_and_the_tags_it_names(at: &Session) -> Outcome {
    let container = at.container().await?;
    let tag = own_tag(&container);
    seed(&container, "a", &format!("{tag}=1&color=red&other=x")).await?;
    seed(&container, "b", &format!("{tag}=2&color=red")).await?;
    let expression = format!("@container='{}' AND {tag}='1' AND \"color\"='red'", container.name);
    let search = at.to_blobs("GET", "/")?.query("comp", "blobs").query("where", &expression);
    let search = search.version("2020-04-08").send().await?;
    let body = search.expect(200)?.expect_header("Content-Type", "application/xml")?.text();
    let quoted = expression.replace('\'', "&apos;").replace('"', "&quot;");
    let wanted = format!(
        "<Where>{quoted}</Where><Blobs><Blob><Name>a</Name><ContainerName>{}</ContainerName><Tags><TagSet>\
         <Tag><Key>{tag}</Key><Value>1</Value></Tag><Tag><Key>color</Key><Value>red</Value></Tag></TagSet></Tags>\
         </Blob></Blobs><NextMarker/></EnumerationResults>",
        container.name
    );
    ensure(body.ends_with(&wanted), || format!("{body} does not end with {wanted}"))?;
    let opening = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<EnumerationResults ServiceEndpoint=\"http";
    ensure(body.starts_with(opening), || body.clone())
}

async fn a_search_in_a_container_finds_only_its_blobs(at: &Session) -> Outcome {
    let (one, other) = (at.container().await?, at.container().await?);
    let tag = own_tag(&one);
    for container in [&one, &other] {
        seed(container, "b", &format!("{tag}=1")).await?;
    }
    let expression = format!("{tag}='1'");
    let search = at.to_blobs("GET", "/")?.query("comp", "blobs").query("where", &expression).send().await?;
    equal("in the account", names(&search)?.len(), 2)?;
    let search = find(&one, &expression)?.send().await?;
    equal("in the container", names(&search)?, ["b"])?;
    search.expect_body_contains(&format!("<ContainerName>{}</ContainerName>", one.name))?;
    let elsewhere = format!("@container='{}' AND {tag}='1'", other.name);
    equal("another container", found(&one, &elsewhere).await?, [""; 0])
}

async fn a_search_compares_as_text(at: &Session) -> Outcome {
    let container = at.container().await?;
    for (name, size) in [("a", "10"), ("b", "9"), ("c", ""), ("d", "10+")] {
        seed(&container, name, &format!("size={}", size.replace('+', "%2B"))).await?;
    }
    for (expression, wanted) in [
        ("size='10'", vec!["a"]),
        ("size>'10'", vec!["d", "b"]),
        ("size>='10'", vec!["a", "d", "b"]),
        ("size<'10'", vec!["c"]),
        ("size<='10'", vec!["c", "a"]),
        ("size>='1' AND size<'9'", vec!["a", "d"]),
        ("size=''", vec!["c"]),
        ("size='10+'", vec!["d"]),
        ("Size='10'", vec![]),
    ] {
        let mut names = found(&container, expression).await?;
        let mut wanted: Vec<_> = wanted.into_iter().map(str::to_owned).collect();
        names.sort();
        wanted.sort();
        equal(expression, names, wanted)?;
    }
    Ok(())
}

async fn a_search_combines_conditions(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "a", "status=ready&size=5&key%20with%3Asigns=v").await?;
    seed(&container, "b", "status=ready").await?;
    seed(&container, "c", "size=5").await?;
    equal("both", found(&container, "status='ready' and size>='5'").await?, ["a"])?;
    equal("the second is narrow", found(&container, "size>'' AND \"status\" = 'ready'").await?, ["a"])?;
    equal("a quoted key", found(&container, "\"key with:signs\"='v'").await?, ["a"])?;
    equal("none", found(&container, "status='ready' AND size='6'").await?, [""; 0])
}

async fn a_search_with_a_page_size_says_where_the_next_page_starts(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "b", "c"] {
        seed(&container, name, "k=v").await?;
    }
    let mut marker = String::new();
    let mut all = Vec::new();
    for page in 0..3 {
        let search = find(&container, "k='v'")?.query("maxresults", "1");
        let search = if page == 0 { search } else { search.query("marker", &marker) };
        let search = search.send().await?;
        let elements: &[&str] = match page {
            0 => &["Where", "MaxResults", "Blobs", "NextMarker"],
            _ => &["Marker", "Where", "MaxResults", "Blobs", "NextMarker"],
        };
        equal("elements", search.expect(200)?.xml()?.names(), elements)?;
        all.extend(names(&search)?);
        marker = search.xml()?.at("NextMarker").unwrap_or_default().to_owned();
        equal("has a successor", marker.is_empty(), page == 2)?;
    }
    equal("all pages", all, ["a", "b", "c"])?;
    let wrong = find(&container, "k='v'")?.query("maxresults", "0").send().await?;
    wrong.expect_code(400, "OutOfRangeQueryParameterValue")?;
    Ok(())
}

async fn a_search_of_an_old_version_has_one_value(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "a", &format!("{}=v", own_tag(&container))).await?;
    let expression = format!("{}='v'", own_tag(&container));
    let search = at.to_blobs("GET", "/")?.query("comp", "blobs").query("where", &expression);
    let search = search.version("2019-12-12").send().await?;
    search.expect(200)?.expect_body_contains("<TagValue>v</TagValue></Blob>")?.expect_body_lacks("TagSet")?;
    Ok(())
}

async fn a_search_follows_every_change_of_tags(at: &Session) -> Outcome {
    let container = at.container().await?;
    let tags = |key: &str, value: &str| {
        format!("<Tags><TagSet><Tag><Key>{key}</Key><Value>{value}</Value></Tag></TagSet></Tags>")
    };
    let state = async |one: &[&str], two: &[&str]| {
        equal("k=1", found(&container, "k='1'").await?, one)?;
        equal("k=2", found(&container, "k='2'").await?, two)
    };
    container.seed("b", "x").await?;
    state(&[], &[]).await?;
    container.blob_on("PUT", "b", "tags")?.body(tags("k", "1")).send().await?.expect(204)?;
    state(&["b"], &[]).await?;
    container.blob_on("PUT", "b", "tags")?.body(tags("k", "2")).send().await?.expect(204)?;
    state(&[], &["b"]).await?;
    container.blob_on("PUT", "b", "metadata")?.header("x-ms-meta-a", "b").send().await?.expect(200)?;
    state(&[], &["b"]).await?;
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &container.url("b"));
    copy.header("x-ms-tags", "k=1").send().await?.expect(202)?;
    state(&["copy"], &["b"]).await?;
    seed(&container, "b", "k=1").await?;
    state(&["b", "copy"], &[]).await?;
    container.seed("b", "x").await?;
    state(&["copy"], &[]).await?;
    container.blob("DELETE", "copy")?.send().await?.expect(202)?;
    state(&[], &[]).await?;
    seed(&container, "b", "k=2").await?;
    container.blob_on("PUT", "b", "tags")?.body("<Tags><TagSet /></Tags>").send().await?.expect(204)?;
    state(&[], &[]).await
}

async fn a_search_finds_append_blobs_and_block_lists(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.header("x-ms-tags", "k=v").send().await?.expect(201)?;
    container.append("log", "line")?.send().await?.expect(201)?;
    container.put_block("list", "QQ==", "x")?.send().await?.expect(201)?;
    let list = container.put_list("list", "<Latest>QQ==</Latest>")?;
    list.header("x-ms-tags", "k=v").send().await?.expect(201)?;
    equal("both", found(&container, "k='v'").await?, ["list", "log"])
}

async fn a_search_finds_no_snapshot(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "b", "k=1").await?;
    container.blob_on("PUT", "b", "snapshot")?.send().await?.expect(201)?;
    equal("once", found(&container, "k='1'").await?, ["b"])?;
    seed(&container, "b", "k=2").await?;
    equal("the snapshot", found(&container, "k='1'").await?, [""; 0])?;
    equal("the blob", found(&container, "k='2'").await?, ["b"])
}

async fn a_search_without_an_expression_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.on("GET", "blobs")?.send().await?.expect_code(400, "MissingRequiredQueryParameter")?;
    Ok(())
}

async fn a_search_with_a_wrong_expression_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    for expression in
        ["'key 1'='v'", "k", "k=v", "k<>'v'", "k='1' OR k='2'", "(k='1')", "k='1' AND k='2'", "@blob='b' AND k='1'"]
    {
        let search = find(&container, expression)?.send().await?;
        search.expect_code(400, "InvalidQueryParameterValue")?;
        search.expect_body_contains("Error parsing query at or near character position")?;
        search.expect_body_contains("<QueryParameterName>where</QueryParameterName>")?;
    }
    let many = (0..11).map(|n| format!("k{n}='v'")).collect::<Vec<_>>().join(" AND ");
    find(&container, &many)?.send().await?.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn a_search_with_a_wrong_marker_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    find(&container, "k='v'")?.query("marker", "nonsense").send().await?.expect(400)?;
    Ok(())
}

async fn a_search_in_a_missing_container_is_not_found(at: &Session) -> Outcome {
    let container = at.missing_container();
    find(&container, "k='v'")?.send().await?.expect_code(404, "ContainerNotFound")?;
    let expression = format!("@container='{}' AND k='v'", container.name);
    let search = at.to_blobs("GET", "/")?.query("comp", "blobs").query("where", &expression).send().await?;
    equal("in the account", names(&search)?, [""; 0])
}

async fn a_search_needs_its_own_permission(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "b", "k=v").await?;
    for (permissions, status) in [("f", 200), ("rwl", 403)] {
        let token = BlobSas::of_container(&container.name, permissions);
        let search = find(&container, "k='v'")?.sas(&token.query(at.target()));
        search.send().await?.expect(status)?;
        let search = at.to_blobs("GET", "/")?.query("comp", "blobs").query("where", "k='v'");
        search.sas(&token.query(at.target())).send().await?.expect(403)?;
        let token = AccountSas { ss: "b".into(), ..AccountSas::new("sco", permissions) }.query(at.target());
        find(&container, "k='v'")?.sas(&token).send().await?.expect(status)?;
        let search = at.to_blobs("GET", "/")?.query("comp", "blobs").query("where", "k='v'");
        search.sas(&token).send().await?.expect(status)?;
    }
    Ok(())
}
