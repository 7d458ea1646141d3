//! The contract of an engine as tests.
//!
//! An engine's own tests implement [`Harness`] and call [`engine_suite!`](crate::engine_suite), which makes one
//! test of every behaviour below:
//!
//! ```
//! use std::sync::Arc;
//! use tablerock_kv::suite::{Capabilities, Harness};
//! use tablerock_kv::{Engine, MemoryEngine};
//!
//! struct Memory;
//!
//! #[async_trait::async_trait]
//! impl Harness for Memory {
//!     fn capabilities(&self) -> Capabilities {
//!         Capabilities::default()
//!     }
//!
//!     async fn open(&mut self) -> Arc<dyn Engine> {
//!         Arc::new(MemoryEngine::new())
//!     }
//! }
//!
//! tablerock_kv::engine_suite!(Memory);
//! # fn main() {}
//! ```
//!
//! The random run prints its seed; `TABLEROCK_SEED` set to that number replays it.

#![allow(missing_docs, reason = "the name of each test is the sentence that it proves")]

pub mod atomicity;
pub mod blind_puts;
pub mod closing;
pub mod conflicts;
pub mod counters;
pub mod drops;
mod harness;
pub mod limits;
pub mod newest;
pub mod order;
pub mod random;
pub mod ranges;
pub mod reopening;
pub mod sizes;
mod steps;

pub use harness::{Capabilities, Harness, check};

/// Makes a test of every behaviour in [`suite`](crate::suite). The argument is an expression for a fresh
/// [`Harness`](crate::suite::Harness), evaluated once a test.
#[macro_export]
macro_rules! engine_suite {
    ($harness:expr) => {
        $crate::engine_suite! { @tests $harness;
            atomicity::a_commit_applies_all_its_writes,
            atomicity::no_scan_shows_half_of_a_commit,
            blind_puts::a_later_version_is_not_replaced,
            blind_puts::of_blind_puts_at_once_the_latest_stays,
            blind_puts::a_page_comes_with_a_row_that_is_not_older,
            closing::a_closed_engine_refuses_everything,
            closing::closing_twice_is_fine,
            conflicts::a_changed_value_refuses_the_whole_commit,
            conflicts::an_absent_record_can_be_expected,
            conflicts::expectations_alone_are_checked,
            conflicts::only_one_of_many_inserts_of_a_record_succeeds,
            conflicts::the_same_key_in_another_partition_is_another_record,
            counters::no_update_of_one_counter_is_lost,
            counters::no_update_of_many_counters_is_lost,
            drops::a_dropped_range_goes_and_its_neighbours_stay,
            drops::an_empty_range_drops_nothing,
            limits::a_deadline_in_the_past_still_shows_one_record,
            limits::a_scan_stops_at_its_bytes,
            limits::a_scan_stops_at_its_records,
            limits::pages_follow_one_another_without_gap_or_overlap,
            newest::a_commit_that_was_let_go_shows_from_then_on_or_never,
            newest::a_committed_value_is_read_at_once,
            newest::many_keys_are_read_at_once_however_close_they_lie,
            newest::records_of_several_partitions_are_read_together,
            newest::values_come_in_the_order_asked_for,
            order::records_come_by_partition_and_then_by_key,
            random::any_history_ends_as_in_memory,
            ranges::a_range_has_its_start_and_not_its_end,
            ranges::a_range_that_ends_before_it_starts_is_empty,
            ranges::a_range_without_end_goes_to_the_last_record,
            ranges::a_partition_does_not_reach_into_the_next,
            ranges::a_prefix_has_all_partitions_that_begin_so,
            reopening::a_dropped_range_goes_also_after_reopening,
            reopening::what_was_committed_is_there_after_reopening,
            sizes::empty_partition_key_and_value_are_as_good_as_others,
            sizes::every_byte_may_occur_in_keys_and_values,
            sizes::values_of_four_mebibytes_come_back,
        }
    };
    (@tests $harness:expr; $($module:ident :: $behaviour:ident),+ $(,)?) => {
        $(
            #[test]
            fn $behaviour() {
                $crate::suite::check($crate::suite::$module::$behaviour, $harness);
            }
        )+
    };
}
