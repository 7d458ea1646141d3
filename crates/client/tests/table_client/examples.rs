//! The examples do what they say.

use crate::support::{Account, unique_name};

// It is a program as well, whose beginning nobody calls here.
#[allow(dead_code)]
#[path = "../../examples/tour.rs"]
mod tour;

#[tokio::test]
async fn the_tour_ends_well() {
    let account = Account::open().await;
    tour::tour(&account.tables(), &unique_name()).await.unwrap();
}
