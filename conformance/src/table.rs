//! A table of the case's own, and the usual requests on it.

use serde_json::{Value, json};

use crate::encode;
use crate::expect::{Outcome, equal};
use crate::request::Request;
use crate::response::Response;
use crate::session::Session;

#[derive(Debug)]
pub struct Table<'s> {
    session: &'s Session,
    pub name: String,
}

impl<'s> Table<'s> {
    pub fn new(session: &'s Session, name: String) -> Self {
        Self { session, name }
    }

    pub fn path(&self) -> String {
        format!("/{}", self.name)
    }

    pub fn entity_path(&self, partition: &str, row: &str) -> String {
        format!("/{}{}", self.name, encode::keys(partition, row))
    }

    /// The absolute URL of an entity, as `Location` has it for keys that need no encoding.
    pub fn entity_url(&self, partition: &str, row: &str) -> String {
        format!("{}{}", self.session.base(), self.entity_path(partition, row))
    }

    pub fn insert(&self, entity: impl ToString) -> Request<'s> {
        self.session.post(self.path()).json(entity)
    }

    pub fn read(&self, partition: &str, row: &str) -> Request<'s> {
        self.session.get(self.entity_path(partition, row))
    }

    pub fn put(&self, partition: &str, row: &str, entity: impl ToString) -> Request<'s> {
        self.write("PUT", partition, row, entity)
    }

    pub fn merge(&self, partition: &str, row: &str, entity: impl ToString) -> Request<'s> {
        self.write("MERGE", partition, row, entity)
    }

    pub fn write(&self, verb: &str, partition: &str, row: &str, entity: impl ToString) -> Request<'s> {
        self.session.request(verb, self.entity_path(partition, row)).json(entity)
    }

    pub fn delete(&self, partition: &str, row: &str) -> Request<'s> {
        self.session.delete(self.entity_path(partition, row)).if_match("*")
    }

    pub fn query(&self) -> Request<'s> {
        self.session.get(format!("{}()", self.path()))
    }

    pub fn filter(&self, filter: &str) -> Request<'s> {
        self.query().query("$filter", filter)
    }

    pub fn acl(&self) -> Request<'s> {
        self.session.get(self.path()).raw_query("comp=acl").accept("application/xml")
    }

    pub fn set_acl(&self, body: impl Into<Vec<u8>>) -> Request<'s> {
        self.session.put(self.path()).raw_query("comp=acl").xml(body)
    }

    /// Inserts an entity that must be accepted.
    pub async fn seed(&self, entity: impl ToString) -> Outcome<Response> {
        let response = self.insert(entity).send().await?;
        response.expect(201)?;
        Ok(response)
    }

    /// Inserts one entity per row key, all in partition `p`.
    pub async fn seed_rows(&self, rows: &[&str]) -> Outcome {
        for row in rows {
            self.seed(json!({ "PartitionKey": "p", "RowKey": row })).await?;
        }
        Ok(())
    }

    /// Inserts `r`-keyed entities of partition `p` that have one property `X` each, given as JSON members.
    pub async fn seed_members(&self, rows: &[(&str, &str)]) -> Outcome {
        for (row, members) in rows {
            self.seed(format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",{members}}}")).await?;
        }
        Ok(())
    }

    /// The entity as the service holds it now.
    pub async fn stored(&self, partition: &str, row: &str) -> Outcome<Value> {
        self.read(partition, row).send().await?.expect(200)?.json()
    }

    /// The row keys a filter finds, in the order they came.
    pub async fn matching(&self, filter: &str) -> Outcome<Vec<String>> {
        self.filter(filter).send().await?.column("RowKey")
    }

    /// Fails unless the filter finds exactly those rows.
    pub async fn expect_matching(&self, filter: &str, rows: &[&str]) -> Outcome {
        let found = self.matching(filter).await?;
        equal(format_args!("$filter={filter}"), found, rows)
    }

    /// Fails unless the table holds exactly those rows of any partition.
    pub async fn expect_rows(&self, rows: &[&str]) -> Outcome {
        equal("rows of the table", self.query().send().await?.column("RowKey")?, rows)
    }
}
