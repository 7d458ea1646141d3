//! Point reads and bulk inserts per second: this client, and bare hyper requests beside it.
//!
//! ```text
//! tablerock --in-memory &
//! cargo run --release --package tablerock-client --example throughput
//! python crates/client/examples/throughput.py
//! ```
//!
//! `CLIENT_CONNECTION_STRING` names another account than that of the development server.

use std::error::Error;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::try_join_all;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tablerock_client::sas::TablePermissions;
use tablerock_client::{DateTime, TableClient, TableEntity, TableServiceClient, Write};

type AnyError = Box<dyn Error + Send + Sync>;

const ENTITIES: i32 = 20_000;
const PARTITIONS: i32 = 20;
const MEASURED: Duration = Duration::from_secs(4);

#[derive(TableEntity, Debug)]
#[entity(rename_all = "PascalCase")]
struct Employee {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    first_name: String,
    last_name: String,
    age: i32,
    salary: f64,
    visits: i64,
    about: String,
}

fn employee(number: i32) -> Employee {
    Employee {
        department: format!("department-{}", number % PARTITIONS),
        id: format!("{number:06}"),
        first_name: "Ann".into(),
        last_name: format!("Ash{number}"),
        age: 20 + number % 50,
        salary: f64::from(number) / 3.0,
        visits: i64::from(number) << 32,
        about: "x".repeat(500),
    }
}

fn key(number: usize) -> (String, String) {
    let Employee { department, id, .. } = employee((number * 7919) as i32 % ENTITIES);
    (department, id)
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let connection =
        std::env::var("CLIENT_CONNECTION_STRING").unwrap_or_else(|_| "UseDevelopmentStorage=true".to_owned());
    let table = TableServiceClient::from_connection_string(&connection)?.table("Throughput");
    table.drop_table_if_exists().await?;
    table.create().await?;

    let entities: Vec<Employee> = (0..ENTITIES).map(employee).collect();
    let started = Instant::now();
    table.bulk(entities.iter().map(Write::insert)).await.into_result()?;
    println!("bulk inserts            {:>9.0}/s", f64::from(ENTITIES) / started.elapsed().as_secs_f64());

    for side_by_side in [1, 16, 64] {
        let raw = raw_reads(&table, side_by_side).await?;
        let ours = point_reads(&table, side_by_side).await?;
        println!(
            "point reads, {side_by_side:>2} at once  {ours:>9.0}/s   hyper alone {raw:>9.0}/s   ratio {:.2}",
            ours / raw
        );
    }
    table.drop_table().await?;
    Ok(())
}

/// Reads per second of one loop, many times side by side.
async fn measure<F>(side_by_side: usize, read: impl Fn(usize) -> F) -> Result<f64, AnyError>
where
    F: Future<Output = Result<(), AnyError>>,
{
    let started = Instant::now();
    let loops = (0..side_by_side).map(|place| {
        let read = &read;
        async move {
            let mut count = 0;
            while started.elapsed() < MEASURED {
                read(place + count * side_by_side).await?;
                count += 1;
            }
            Ok::<usize, AnyError>(count)
        }
    });
    let total: usize = try_join_all(loops).await?.into_iter().sum();
    Ok(total as f64 / started.elapsed().as_secs_f64())
}

async fn point_reads(table: &TableClient, side_by_side: usize) -> Result<f64, AnyError> {
    measure(side_by_side, async |number| {
        let (partition, row) = key(number);
        let read: Employee = table.get(&partition, &row).await?;
        assert_eq!(read.id, row);
        Ok(())
    })
    .await
}

/// The same requests, with a signature that is made once, and their answers read and thrown away.
async fn raw_reads(table: &TableClient, side_by_side: usize) -> Result<f64, AnyError> {
    let expiry = DateTime::parse("2040-01-01")?;
    let sas = table.sas(TablePermissions::READ, expiry).sign()?;
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let base = format!("{}/{}", table.endpoint(), table.name());
    measure(side_by_side, async |number| {
        let (partition, row) = key(number);
        let url = format!("{base}(PartitionKey='{partition}',RowKey='{row}')?{}", sas.as_str());
        let request = Request::get(url)
            .header("accept", "application/json;odata=minimalmetadata")
            .header("x-ms-version", "2020-12-06")
            .body(Empty::new())?;
        let answer = client.request(request).await?;
        assert!(answer.status().is_success());
        answer.into_body().collect().await?;
        Ok(())
    })
    .await
}
