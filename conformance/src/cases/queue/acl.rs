//! Get and Set Queue ACL.

use crate::expect::equal;
use crate::queue::Queue;
use crate::xml::Element;
use crate::{Outcome, Session, cases};

cases! {
    GetQueueACL {
        a_new_queue_has_no_policies,
        the_acl_of_a_missing_queue_is_not_found,
    }
    SetQueueACL {
        policies_of_a_queue_come_back_with_seven_digits,
        a_queue_policy_may_be_an_id_alone,
        the_acl_of_a_queue_is_replaced_as_a_whole,
        six_policies_of_a_queue_are_refused,
        a_queue_knows_the_letters_raup_and_no_others,
        malformed_policies_of_a_queue_are_refused,
        the_acl_of_a_missing_queue_cannot_be_set,
    }
}

fn identifier(id: &str, policy: &str) -> String {
    format!("<SignedIdentifier><Id>{id}</Id><AccessPolicy>{policy}</AccessPolicy></SignedIdentifier>")
}

fn document(identifiers: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>{identifiers}</SignedIdentifiers>")
}

async fn policies(queue: &Queue<'_>) -> Outcome<Element> {
    queue.acl()?.send().await?.expect(200)?.xml()
}

async fn a_new_queue_has_no_policies(at: &Session) -> Outcome {
    let response = at.queue().await?.acl()?.send().await?;
    response.expect(200)?.expect_header("Content-Type", "application/xml")?;
    response.expect_body_contains("<SignedIdentifiers />")?;
    Ok(())
}

async fn the_acl_of_a_missing_queue_is_not_found(at: &Session) -> Outcome {
    at.missing_queue().acl()?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}

async fn policies_of_a_queue_come_back_with_seven_digits(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let policy = "<Start>2020-01-01</Start><Expiry>2030-01-01T01:01:00.5Z</Expiry><Permission>raup</Permission>";
    queue.set_acl(document(&identifier("id1", policy)))?.send().await?.expect(204)?.expect_no_body()?;
    let root = policies(&queue).await?;
    equal("Start", root.at("SignedIdentifier/AccessPolicy/Start"), Some("2020-01-01T00:00:00.0000000Z"))?;
    equal("Expiry", root.at("SignedIdentifier/AccessPolicy/Expiry"), Some("2030-01-01T01:01:00.5000000Z"))?;
    equal("Permission", root.at("SignedIdentifier/AccessPolicy/Permission"), Some("raup"))
}

async fn a_queue_policy_may_be_an_id_alone(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let body = document("<SignedIdentifier><Id>empty</Id></SignedIdentifier>");
    queue.set_acl(body)?.send().await?.expect(204)?;
    let root = policies(&queue).await?;
    equal("elements", root.children.first().map(Element::names), Some(vec!["Id"]))
}

async fn the_acl_of_a_queue_is_replaced_as_a_whole(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let letters = "<Permission>r</Permission>";
    let two = [identifier("a", letters), identifier("b", letters)].concat();
    queue.set_acl(document(&two))?.send().await?.expect(204)?;
    equal("policies", policies(&queue).await?.children.len(), 2)?;
    for empty in ["<SignedIdentifiers />", ""] {
        queue.set_acl(document(&identifier("c", letters)))?.send().await?.expect(204)?;
        queue.set_acl(empty)?.send().await?.expect(204)?;
        equal("policies", policies(&queue).await?.children.len(), 0)?;
    }
    Ok(())
}

async fn six_policies_of_a_queue_are_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let many = |count: usize| -> String {
        (0..count).map(|id| identifier(&id.to_string(), "<Permission>r</Permission>")).collect()
    };
    queue.set_acl(document(&many(5)))?.send().await?.expect(204)?;
    queue.set_acl(document(&many(6)))?.send().await?.expect_code(400, "InvalidXmlDocument")?;
    equal("policies", policies(&queue).await?.children.len(), 5)
}

async fn a_queue_knows_the_letters_raup_and_no_others(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for letters in ["d", "w", "rq"] {
        let body = document(&identifier("a", &format!("<Permission>{letters}</Permission>")));
        let accepted = [(400, "InvalidXmlDocument"), (400, "InvalidXmlNodeValue")];
        queue.set_acl(body)?.send().await?.expect_any_code(&accepted)?;
    }
    Ok(())
}

async fn malformed_policies_of_a_queue_are_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for body in ["<SignedIdentifiers>", "no xml", "<Other />"] {
        queue.set_acl(body)?.send().await?.expect_code(400, "InvalidXmlDocument")?;
    }
    Ok(())
}

async fn the_acl_of_a_missing_queue_cannot_be_set(at: &Session) -> Outcome {
    at.missing_queue().set_acl(document(""))?.send().await?.expect_code(404, "QueueNotFound")?;
    Ok(())
}
