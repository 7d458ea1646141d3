//! The observed state: all tables and entities of a server, read over HTTP.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tablerock_conformance::http::Answer;

use super::{Address, Content, Etag, Timestamp, Version};
use crate::client::{Client, Reply};

const NEXT_TABLE: &str = "NextTableName";
const NEXT_KEYS: [&str; 2] = ["NextPartitionKey", "NextRowKey"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedTables {
    pub tables: BTreeSet<String>,
    pub entities: BTreeMap<Address, Version>,
}

impl ObservedTables {
    /// Lists all tables and all entities.
    pub async fn read(client: &mut Client) -> Result<Self, String> {
        let mut observed = Self::default();
        for item in list(client, "/Tables", &[NEXT_TABLE]).await? {
            let name = item.get("TableName").and_then(Value::as_str).ok_or("a table without a name")?;
            observed.tables.insert(name.to_owned());
        }
        for table in &observed.tables {
            for item in list(client, &format!("/{table}()"), &NEXT_KEYS).await? {
                let (address, version) = parse_entity(table, item)?;
                if observed.entities.insert(address.clone(), version).is_some() {
                    return Err(format!("{address} is listed twice"));
                }
            }
        }
        Ok(observed)
    }

    /// Compares listed entities with point reads, which take another code path in the server.
    pub async fn check_points(&self, client: &mut Client, addresses: &[&Address]) -> Result<(), String> {
        for address in addresses {
            let found = match client.get(&address.path(), &[]).await {
                Reply::Response(answer) => parse_point_read(address, &answer)?,
                reply => return Err(format!("{address}: cannot be read: {reply:?}")),
            };
            if found.as_ref() != self.entities.get(*address) {
                return Err(format!("{address}: listed as {:?}, read as {found:?}", self.entities.get(*address)));
            }
        }
        Ok(())
    }
}

/// The version in the response to a point read; `None` for 404.
pub fn parse_point_read(address: &Address, answer: &Answer) -> Result<Option<Version>, String> {
    match answer.status {
        200 => {
            let (found, version) = parse_entity(&address.table, object(&answer.body)?)?;
            if found != *address {
                return Err(format!("requested {address}, got {found}"));
            }
            Ok(Some(version))
        }
        404 => Ok(None),
        status => Err(format!("{address}: {status} {}", String::from_utf8_lossy(&answer.body))),
    }
}

/// Lists all items of a collection, page by page.
async fn list(client: &mut Client, path: &str, next: &[&str]) -> Result<Vec<Map<String, Value>>, String> {
    let mut items = Vec::new();
    let mut continuation: Vec<(String, String)> = vec![];
    loop {
        let query: Vec<(&str, &str)> =
            continuation.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = match client.get(path, &query).await {
            Reply::Response(answer) if answer.status == 200 => answer,
            Reply::Response(answer) => {
                return Err(format!("GET {path}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)));
            }
            reply => return Err(format!("GET {path}: {reply:?}")),
        };
        items.extend(parse_page(&answer.body)?);
        let token =
            |name: &&str| Some(((*name).to_owned(), answer.header(&format!("x-ms-continuation-{name}"))?.to_owned()));
        continuation = next.iter().filter_map(token).collect();
        if continuation.is_empty() {
            return Ok(items);
        }
    }
}

/// The items of one page.
pub fn parse_page(body: &[u8]) -> Result<Vec<Map<String, Value>>, String> {
    let Some(Value::Array(items)) = object(body)?.remove("value") else {
        return Err("a page without `value`".to_owned());
    };
    let object = |item| match item {
        Value::Object(item) => Ok(item),
        other => Err(format!("{other} is not an object")),
    };
    items.into_iter().map(object).collect()
}

fn object(body: &[u8]) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(body).map_err(|error| format!("{error} in {}", String::from_utf8_lossy(body)))
}

/// The address and version in an entity's JSON.
pub fn parse_entity(table: &str, mut item: Map<String, Value>) -> Result<(Address, Version), String> {
    let mut text = |name: &str| match item.remove(name) {
        Some(Value::String(text)) => Ok(text),
        other => Err(format!("{name} of an entity in {table} is {other:?}")),
    };
    let address = Address::new(table, text("PartitionKey")?, text("RowKey")?);
    let timestamp = Timestamp::from_text(&text("Timestamp")?);
    let etag = Etag::parse(&text("odata.etag")?)?;
    if etag.timestamp() != timestamp {
        return Err(format!("{address}: Timestamp {timestamp}, but ETag {}", etag.as_str()));
    }
    item.retain(|name, _| !name.contains("odata."));
    Ok((address, Version { content: Content::from(item), etag }))
}
