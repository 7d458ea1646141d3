//! `POST /accounts`: an account with a new key, for a test that wants data of its own. It is served until the server stops, and
//! its data stays where the server keeps data.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Response, StatusCode};
use serde_json::json;
use tablerock_protocol::AccountName;
use tablerock_protocol::signing::AccountKey;

use super::{response, text};
use crate::accounts::{Account, AddError};
use crate::http::response_body::ResponseBody;
use crate::pipeline::Server;

/// The size of a key of Azure.
const KEY_BYTES: usize = 64;

/// The random digits of a name, of at most 24 characters.
const NAME_DIGITS: usize = 20;

const INVALID_NAME: &str = "send POST /accounts, or /accounts?name=NAME with 3 to 24 lower-case letters and digits\n";
const EXISTS: &str = "the account exists already; choose another name, or none for a new one\n";
const TOO_MANY: &str = "too many accounts were added; restart the server\n";
const NOT_PREPARED: &str = "the data of the account cannot be read; see the log, and retry\n";
const NO_RANDOM: &str = "the system has no random numbers\n";

/// Adds the account that the query names, or one with a name of its own, and returns its name and key.
pub(super) async fn reply(server: &Server, query: Option<&str>) -> Response<ResponseBody> {
    match add(server, query).await {
        Ok(body) => response(StatusCode::CREATED, "application/json", body),
        Err((status, why)) => text(status, why),
    }
}

async fn add(server: &Server, query: Option<&str>) -> Result<String, (StatusCode, &'static str)> {
    let mut random = [0; KEY_BYTES + NAME_DIGITS / 2];
    getrandom::fill(&mut random).map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, NO_RANDOM))?;
    let (secret, digits) = random.split_at(KEY_BYTES);
    let name = match query.unwrap_or_default().split_once('=') {
        None if query.is_none_or(str::is_empty) => format!("test{}", hex(digits)),
        Some(("name", name)) => name.to_owned(),
        _ => return Err((StatusCode::BAD_REQUEST, INVALID_NAME)),
    };
    let account_name = AccountName::parse(&name).ok_or((StatusCode::BAD_REQUEST, INVALID_NAME))?;
    let account = Account { name: account_name, keys: vec![AccountKey::from_bytes(secret)] };
    // Before the account is prepared, so that a rejected one leaves nothing behind.
    server.accounts.check_room(&name).map_err(refused)?;
    server.prepare_account(&name).await.map_err(|error| {
        tracing::warn!(account = name, %error, "preparing an account failed");
        (StatusCode::SERVICE_UNAVAILABLE, NOT_PREPARED)
    })?;
    server.accounts.add(account).map_err(refused)?;
    tracing::info!(account = name, "account added through the admin address");
    Ok(format!("{}\n", json!({ "name": name, "key": STANDARD.encode(secret) })))
}

fn refused(error: AddError) -> (StatusCode, &'static str) {
    match error {
        AddError::Exists => (StatusCode::CONFLICT, EXISTS),
        AddError::TooMany => (StatusCode::TOO_MANY_REQUESTS, TOO_MANY),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
