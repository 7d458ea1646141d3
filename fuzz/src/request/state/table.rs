//! Tables with their policies and entities.

use tablerock_protocol::xml::{ServiceProperties, StoredAccessPolicies};
use tablerock_protocol::{Property, Service, TableName, Value};
use tablerock_server::Server;
use tablerock_services::table::{Change, EntityGroup, EntityOperation, EntityQuery, Properties, TableQuery};

use crate::known_table::{ACCOUNT, TABLE};

#[derive(Debug, PartialEq)]
pub(in crate::request) struct State {
    tables: Vec<(String, StoredAccessPolicies, Vec<StoredRecord>)>,
    settings: ServiceProperties,
}

/// Keys and the stored value, Timestamp included.
type StoredRecord = (String, String, bytes::Bytes);

impl State {
    pub(super) async fn of(server: &Server) -> Self {
        let mut tables = Vec::new();
        for name in names(server).await {
            let policies = server.tables.table_acl(ACCOUNT, &name).await.expect("a table's policies");
            let page = server.tables.query_entities(ACCOUNT, &name, &EntityQuery::default()).await;
            let entities = page.expect("a table's entities").entities.into_iter();
            let records = entities.map(|found| (found.partition_key, found.row_key, found.entity.into_bytes()));
            tables.push((name, policies, records.collect()));
        }
        Self { tables, settings: super::settings(server, Service::Table).await }
    }
}

async fn names(server: &Server) -> Vec<String> {
    server.tables.query_tables(ACCOUNT, &TableQuery::default()).await.expect("the list of tables").names
}

/// One table with two entities.
pub(super) async fn fill(server: &Server) {
    let name = TableName::parse(TABLE).expect("a name");
    server.tables.create_table(ACCOUNT, &name).await.expect("a new table");
    for row_key in ["1", "2"] {
        let property = Property { name: "Age".into(), value: Value::Int32(30) };
        let operation = EntityOperation {
            table: TABLE.to_owned(),
            partition_key: "Sales".to_owned(),
            row_key: row_key.to_owned(),
            change: Change::Insert(Properties::encode(&[property])),
        };
        server.tables.apply(ACCOUNT, &EntityGroup::single(operation)).await.expect("a new entity");
    }
}

pub(super) async fn clear(server: &Server) {
    for name in names(server).await {
        server.tables.delete_table(ACCOUNT, &name).await.expect("a table that was listed");
    }
}
