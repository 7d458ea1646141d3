//! The server is in the process of the test: the crate `tablerock-testing`.

use tablerock_testing::TestServer;

#[tokio::test]
async fn an_item_from_its_addition_to_the_archive() {
    let server = TestServer::start();
    let todo = async |arguments: &[&str]| {
        tablerock_example_todo::run(server.connection_string(), arguments).await.expect("the command runs")
    };

    let tree = todo(&["add", "home", "2026-12-24", "Buy a tree"]).await.remove(0);
    let milk = todo(&["add", "home", "2026-12-01", "Buy milk"]).await.remove(0);
    todo(&["add", "work", "2026-12-02", "Ship it"]).await;
    let both = [format!("2026-12-01 {milk} Buy milk"), format!("2026-12-24 {tree} Buy a tree")];
    assert_eq!(todo(&["list", "home"]).await, both);

    assert_eq!(todo(&["done", "home", &milk]).await, [format!("done {milk}")]);
    assert_eq!(todo(&["list", "home"]).await, both[1..]);
    assert_eq!(todo(&["done", "home", &milk]).await, [format!("done {milk}")]);
    assert_eq!(todo(&["work"]).await, ["archived 1"]);
    assert_eq!(todo(&["done", "home", &milk]).await, [format!("no item {milk} in home")]);
    assert_eq!(todo(&["work"]).await, ["archived 0"]);
    assert_eq!(todo(&["archive", "home"]).await, ["Buy milk"]);
}
