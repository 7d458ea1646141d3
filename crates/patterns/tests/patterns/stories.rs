//! Each pattern and relationship as a story of employees and departments, which is also a program in `examples/`.

use crate::support::Account;

/// A story's file, which as a program has a `main` that is not called here.
macro_rules! stories {
    ($($test:ident: $story:ident in $path:literal;)*) => {
        $(
            #[path = $path]
            #[allow(dead_code, reason = "as a program it has a main")]
            mod $story;

            #[tokio::test]
            async fn $test() {
                let account = Account::open().await;
                $story::story(account.connection_string()).await.unwrap();
            }
        )*
    };
}

stories! {
    intra_partition_secondary_index: intra_partition_index in "../../examples/intra_partition_index.rs";
    inter_partition_secondary_index: inter_partition_index in "../../examples/inter_partition_index.rs";
    eventually_consistent_transactions: archive in "../../examples/archive.rs";
    index_entities_in_three_places: index_entities in "../../examples/index_entities.rs";
    denormalisation: denormalisation in "../../examples/denormalisation.rs";
    compound_keys: compound_keys in "../../examples/compound_keys.rs";
    log_tail: log_tail in "../../examples/log_tail.rs";
    high_volume_delete: high_volume_delete in "../../examples/high_volume_delete.rs";
    data_series: data_series in "../../examples/data_series.rs";
    wide_entities: wide_entities in "../../examples/wide_entities.rs";
    large_entities: large_entities in "../../examples/large_entities.rs";
    one_to_many_relationships_three_ways: one_to_many in "../../examples/one_to_many.rs";
    one_to_one_relationships: one_to_one in "../../examples/one_to_one.rs";
    join_in_the_client: join_in_client in "../../examples/join_in_client.rs";
    inheritance: inheritance in "../../examples/inheritance.rs";
    anti_patterns: anti_patterns in "../../examples/anti_patterns.rs";
}
