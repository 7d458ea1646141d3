//! Who may do what with queues: Shared Key over headers, a queue's SAS, stored policies, an account's SAS.

use crate::expect::ensure;
use crate::queue::messages;
use crate::request::Request;
use crate::sas::{AccountSas, QueueSas};
use crate::{Outcome, Session, cases, clock};

cases! {
    Authentication {
        queues_accept_shared_key_and_shared_key_lite,
        queue_requests_are_signed_with_their_metadata,
        metadata_that_was_not_signed_is_refused,
        a_wrong_key_is_refused_by_queues,
        a_parameter_that_was_not_signed_is_refused_by_queues,
        queues_are_not_for_strangers,
        a_queue_sas_allows_what_its_letters_say,
        a_queue_sas_is_for_its_queue_only,
        a_queue_sas_manages_no_queue,
        an_expired_queue_sas_is_refused,
        a_queue_sas_that_was_tampered_with_is_refused,
        a_queue_sas_may_rest_on_a_stored_policy,
        a_queue_sas_of_an_unknown_policy_is_refused,
        an_account_sas_works_on_queues,
        an_account_sas_for_tables_is_refused_by_queues,
        an_account_sas_needs_the_type_of_the_queue_resource,
        an_account_sas_needs_the_permission_for_messages,
    }
}

async fn queues_accept_shared_key_and_shared_key_lite(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    for request in [queue.metadata()?, queue.get()?.raw_query("numofmessages=2"), queue.acl()?] {
        request.clone().send().await?.expect(200)?;
        request.lite().send().await?.expect(200)?;
    }
    queue.put("text")?.lite().send().await?.expect(201)?;
    Ok(())
}

async fn queue_requests_are_signed_with_their_metadata(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let set = queue.set_metadata()?.header("x-ms-meta-b1", "x").header("x-ms-meta-a_1", "y z");
    set.header("x-ms-meta-aa", "1").header("X-MS-Meta-ab", " padded ").send().await?.expect(204)?;
    Ok(())
}

async fn metadata_that_was_not_signed_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let signed = queue.set_metadata()?;
    let authorization = signed.signed_authorization().unwrap_or_default();
    let more = signed.header("x-ms-meta-a", "1").authorization(&authorization);
    more.send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_wrong_key_is_refused_by_queues(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    queue.metadata()?.key(b"another key").send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_parameter_that_was_not_signed_is_refused_by_queues(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let signed = queue.get()?;
    let authorization = signed.signed_authorization().unwrap_or_default();
    let more = signed.raw_query("numofmessages=32").authorization(&authorization);
    more.send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn queues_are_not_for_strangers(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let response = queue.metadata()?.anonymous().send().await?;
    response.expect_one_of(&[401, 403, 404])?;
    Ok(())
}

fn with_sas<'a>(request: Request<'a>, at: &Session, sas: &QueueSas) -> Request<'a> {
    request.sas(&sas.query(at.target()))
}

async fn a_queue_sas_allows_what_its_letters_say(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.seed("text").await?;
    let refused = (403, "AuthorizationPermissionMismatch");
    for letter in ["r", "a", "u", "p"] {
        let sas = QueueSas::new(&queue.name, letter);
        let requests = [
            ("r", with_sas(queue.peek()?, at, &sas), 200),
            ("r", with_sas(queue.metadata()?, at, &sas), 200),
            ("a", with_sas(queue.put("more")?, at, &sas), 201),
            ("u", with_sas(queue.update(&message, "0")?, at, &sas), 204),
            ("p", with_sas(queue.get()?, at, &sas), 200),
        ];
        for (needed, request, status) in requests {
            let response = request.send().await?;
            // The update worked before if this is not the first letter that allows it.
            if letter == needed {
                response.expect_one_of(&[status, 404])?;
            } else {
                response.expect_code(refused.0, refused.1)?;
            }
        }
    }
    Ok(())
}

async fn a_queue_sas_is_for_its_queue_only(at: &Session) -> Outcome {
    let (queue, other) = (at.queue().await?, at.queue().await?);
    let sas = QueueSas::new(&queue.name, "raup");
    let response = with_sas(other.peek()?, at, &sas).send().await?;
    response.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_queue_sas_manages_no_queue(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let sas = QueueSas::new(&queue.name, "raup");
    for request in
        [queue.create()?, queue.request("DELETE")?, queue.set_metadata()?, queue.acl()?, queue.on_messages("DELETE")?]
    {
        let response = with_sas(request, at, &sas).send().await?;
        ensure([403, 404].contains(&response.status()), || format!("the status is {}", response.status()))?;
    }
    queue.metadata()?.send().await?.expect(200)?;
    Ok(())
}

async fn an_expired_queue_sas_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let past = clock::iso8601(clock::now() - clock::minutes(60));
    let sas = QueueSas { se: past, ..QueueSas::new(&queue.name, "r") };
    with_sas(queue.peek()?, at, &sas).send().await?.expect_code(403, "AuthenticationFailed")?;
    let future = clock::iso8601(clock::now() + clock::minutes(30));
    let sas = QueueSas { st: future, ..QueueSas::new(&queue.name, "r") };
    with_sas(queue.peek()?, at, &sas).send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_queue_sas_that_was_tampered_with_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let query = QueueSas::new(&queue.name, "r").query(at.target()).replace("sp=r", "sp=raup");
    queue.peek()?.sas(&query).send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_queue_sas_may_rest_on_a_stored_policy(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let policy = "<SignedIdentifiers><SignedIdentifier><Id>p1</Id><AccessPolicy><Expiry>2099-01-01T00:00:00Z</Expiry>\
        <Permission>a</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    queue.set_acl(policy)?.send().await?.expect(204)?;
    let sas = QueueSas { sv: "2019-02-02".into(), queue: queue.name.clone(), si: "p1".into(), ..QueueSas::default() };
    let response = with_sas(queue.put("text")?, at, &sas).send().await?;
    messages(response.expect(201)?)?;
    with_sas(queue.peek()?, at, &sas).send().await?.expect_code(403, "AuthorizationPermissionMismatch")?;
    queue.set_acl("")?.send().await?.expect(204)?;
    with_sas(queue.put("text")?, at, &sas).send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

async fn a_queue_sas_of_an_unknown_policy_is_refused(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let sas = QueueSas { sv: "2019-02-02".into(), queue: queue.name.clone(), si: "none".into(), ..QueueSas::default() };
    with_sas(queue.peek()?, at, &sas).send().await?.expect_code(403, "AuthenticationFailed")?;
    Ok(())
}

fn account_sas(at: &Session, services: &str, types: &str, letters: &str) -> String {
    AccountSas { ss: services.into(), ..AccountSas::new(types, letters) }.query(at.target())
}

async fn an_account_sas_works_on_queues(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    let sas = account_sas(at, "qt", "sco", "rwdlacup");
    queue.create()?.sas(&sas).send().await?.expect(201)?;
    queue.put("text")?.sas(&sas).send().await?.expect(201)?;
    queue.get()?.sas(&sas).send().await?.expect(200)?;
    queue.on_messages("DELETE")?.sas(&sas).send().await?.expect(204)?;
    at.to_queues("GET", "/")?.raw_query("comp=list&maxresults=1").sas(&sas).send().await?.expect(200)?;
    queue.acl()?.sas(&sas).send().await?.expect_refusal()?;
    queue.request("DELETE")?.sas(&sas).send().await?.expect(204)?;
    Ok(())
}

async fn an_account_sas_for_tables_is_refused_by_queues(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let response = queue.peek()?.sas(&account_sas(at, "t", "sco", "r")).send().await?;
    response.expect_code(403, "AuthorizationServiceMismatch")?;
    Ok(())
}

async fn an_account_sas_needs_the_type_of_the_queue_resource(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let response = queue.peek()?.sas(&account_sas(at, "q", "sc", "r")).send().await?;
    response.expect_code(403, "AuthorizationResourceTypeMismatch")?;
    let response = queue.metadata()?.sas(&account_sas(at, "q", "so", "r")).send().await?;
    response.expect_code(403, "AuthorizationResourceTypeMismatch")?;
    Ok(())
}

async fn an_account_sas_needs_the_permission_for_messages(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let response = queue.get()?.sas(&account_sas(at, "q", "sco", "rwdlacu")).send().await?;
    response.expect_code(403, "AuthorizationPermissionMismatch")?;
    queue.get()?.sas(&account_sas(at, "q", "o", "p")).send().await?.expect(200)?;
    Ok(())
}
