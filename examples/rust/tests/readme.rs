//! The five lines of the front page, as a test runs them.

use tablerock_client::{Entity, Result, TableServiceClient, column};
use tablerock_testing::TestServer;

const README: &str = include_str!("../../../README.md");
const CODE: &str = include_str!("readme.rs");

/// The account of the page is that of a server on fixed ports.
const DEVELOPMENT: &str = "\"UseDevelopmentStorage=true\"";

async fn five_lines(connection_string: &str) -> Result<()> {
    // Begin.
    let people = TableServiceClient::from_connection_string(connection_string)?.table("People");
    people.create_if_not_exists().await?;
    people.insert_or_replace(&Entity::new("Sales", "00001").with("Name", "Ann").with("Age", 41)).await?;
    let found = people.query::<Entity>().partition("Sales").filter(column("Age").gt(40)).all().await?;
    println!("{found:?}");
    // End.
    assert_eq!(found.len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_five_lines_run() {
    five_lines(TestServer::start().connection_string()).await.expect("the lines run");
}

#[test]
fn the_page_has_the_lines_that_run() {
    let (_, lines) = CODE.split_once("// Begin.\n").expect("a beginning");
    let (lines, _) = lines.split_once("    // End.").expect("an end");
    let lines: Vec<String> =
        lines.lines().map(|line| line.trim().replacen("(connection_string)", &format!("({DEVELOPMENT})"), 1)).collect();
    assert!(README.contains(&lines.join("\n")), "README.md has other lines than:\n{}", lines.join("\n"));
}
