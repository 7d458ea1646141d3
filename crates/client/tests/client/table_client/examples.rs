//! The examples do what they say.

use crate::support::{Account, unique_name};

#[allow(dead_code, reason = "it is a program as well, and its main is not called here")]
#[path = "../../../examples/tour.rs"]
mod tour;

#[tokio::test]
async fn the_tour_ends_well() {
    let account = Account::open().await;
    tour::tour(&account.tables(), &unique_name()).await.unwrap();
}
