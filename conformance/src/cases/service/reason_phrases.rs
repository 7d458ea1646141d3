//! The reason phrase of the status line, which legacy .NET clients show as the message of their exceptions.

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    GetContainerProperties {
        the_reason_phrase_of_a_blob_error_is_its_message,
        the_reason_phrase_of_a_success_is_that_of_http,
    }
    GetQueueMetadata {
        the_reason_phrase_of_a_queue_error_is_its_message,
    }
    Authentication {
        the_reason_phrase_of_a_front_end_error_is_its_message,
    }
    QueryEntity {
        the_reason_phrase_of_a_table_error_is_that_of_http,
    }
}

async fn the_reason_phrase_of_a_blob_error_is_its_message(at: &Session) -> Outcome {
    let response = at.missing_container().request("GET")?.send().await?;
    equal("reason", response.expect(404)?.reason(), "The specified container does not exist.")
}

async fn the_reason_phrase_of_a_success_is_that_of_http(at: &Session) -> Outcome {
    let response = at.container().await?.request("GET")?.send().await?;
    equal("reason", response.expect(200)?.reason(), "OK")
}

async fn the_reason_phrase_of_a_queue_error_is_its_message(at: &Session) -> Outcome {
    let response = at.missing_queue().metadata()?.send().await?;
    equal("reason", response.expect(404)?.reason(), "The specified queue does not exist.")
}

async fn the_reason_phrase_of_a_front_end_error_is_its_message(at: &Session) -> Outcome {
    let response = at.get("/Tables").key(b"another key").send().await?;
    let reason = "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly \
                  including the signature.";
    equal("reason", response.expect(403)?.reason(), reason)
}

async fn the_reason_phrase_of_a_table_error_is_that_of_http(at: &Session) -> Outcome {
    let response = at.table().await?.read("p", "r").send().await?;
    equal("reason", response.expect(404)?.reason(), "Not Found")
}
