//! The service's own containers, `$root` and `$web`, and what a list says about every container.

use crate::expect::ensure;
use crate::{Outcome, Session, cases};

cases! {
    ListContainers {
        a_list_of_containers_tells_of_scopes_and_policies,
        the_root_container_is_listed,
        a_static_website_has_a_container,
    }
    SetBlobServiceProperties {
        soft_delete_is_not_switched_on_in_vain,
    }
    PutBlob {
        a_name_in_the_root_container_has_no_slash,
    }
}

async fn a_list_of_containers_tells_of_scopes_and_policies(at: &Session) -> Outcome {
    let container = at.container().await?;
    let list = at.to_blobs("GET", "/")?.version("2020-10-02").query("comp", "list").query("prefix", &container.name);
    list.send()
        .await?
        .expect(200)?
        .expect_body_contains("<DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope>")?
        .expect_body_contains("<DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride>")?
        .expect_body_contains("<ImmutableStorageWithVersioningEnabled>false</ImmutableStorageWithVersioningEnabled>")?;
    Ok(())
}

async fn the_root_container_is_listed(at: &Session) -> Outcome {
    let created = at.to_blobs("PUT", "/$root")?.raw_query("restype=container").send().await?;
    if created.expect_one_of(&[201, 409])?.status() == 201 {
        at.delete_container_afterwards("$root");
    }
    for query in ["comp=list", "comp=list&include=system"] {
        let list = at.to_blobs("GET", "/")?.raw_query(query).query("prefix", "$").send().await?;
        list.expect(200)?.expect_body_contains("<Name>$root</Name>")?;
    }
    Ok(())
}

async fn a_static_website_has_a_container(at: &Session) -> Outcome {
    let set = |enabled: &str| {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><StaticWebsite><Enabled>{enabled}\
             </Enabled></StaticWebsite></StorageServiceProperties>"
        );
        let set = at.to_blobs("PUT", "/")?.raw_query("restype=service&comp=properties").version("2019-12-12");
        Ok::<_, crate::Failure>(set.xml(body))
    };
    set("true")?.send().await?.expect(202)?;
    let list = at.to_blobs("GET", "/")?.raw_query("comp=list").query("prefix", "$web").send().await?;
    set("false")?.send().await?.expect(202)?;
    list.expect(200)?.expect_body_contains("<Name>$web</Name>")?;
    let list = at.to_blobs("GET", "/")?.raw_query("comp=list&include=system").query("prefix", "$web").send().await?;
    let text = list.expect(200)?.text();
    ensure(text.contains("<Name>$web</Name>"), || format!("the container went with the website: {text}"))
}

/// A server without soft delete does not accept the setting. One that has it keeps what is deleted.
async fn soft_delete_is_not_switched_on_in_vain(at: &Session) -> Outcome {
    let properties = |verb: &str| {
        let request = at.to_blobs(verb, "/")?.raw_query("restype=service&comp=properties");
        Ok::<_, crate::Failure>(request.version("2021-12-02"))
    };
    let set = |policy: &str| {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><DeleteRetentionPolicy>{policy}\
             </DeleteRetentionPolicy></StorageServiceProperties>"
        );
        Ok::<_, crate::Failure>(properties("PUT")?.xml(body))
    };
    for policy in [
        "<Enabled>true</Enabled><Days>7</Days>",
        "<Enabled>true</Enabled><Days>7</Days><AllowPermanentDelete>true</AllowPermanentDelete>",
        "<Enabled>false</Enabled><AllowPermanentDelete>true</AllowPermanentDelete>",
    ] {
        set(policy)?.send().await?.expect_code(400, "UnsupportedXmlNode")?;
    }
    let off = "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>";
    properties("GET")?.send().await?.expect(200)?.expect_body_contains(off)?;
    set("<Enabled>false</Enabled><AllowPermanentDelete>false</AllowPermanentDelete>")?.send().await?.expect(202)?;
    Ok(())
}

async fn a_name_in_the_root_container_has_no_slash(at: &Session) -> Outcome {
    let put = at.to_blobs("PUT", "/$root/dir/b")?.header("x-ms-blob-type", "BlockBlob").body("x");
    put.send().await?.expect(400)?;
    Ok(())
}
