//! What every store must do, as tests that any of them can be put through.
//!
//! ```
//! use std::sync::Arc;
//! use majordomo_store::{MemoryStore, Store};
//!
//! fn empty() -> (Arc<dyn Store>, Arc<dyn Store>, ()) {
//!     let store = MemoryStore::new();
//!     (Arc::new(store.clone()), Arc::new(store), ())
//! }
//!
//! majordomo_store::conformance_tests!(empty);
//! ```
//!
//! Each check gets a store of its own, by one handle or by two, as two processes would hold it. What only one kind of store can do (survive a crash, run out of space) is tested
//! beside that store.

pub mod approvals;
pub mod boards;
pub mod inputs;
pub mod installation;
pub mod log;
pub mod ownership;
pub mod postgres_server;
pub mod processes;
pub mod rows;
pub(crate) mod sample;
pub mod wakes;

/// Stamps out a test for every check. Takes a function that makes an empty store and opens it twice, as two processes would, and
/// gives what must live as long as it. Of a store for `many machines` it is not asked what the kernel says of a process.
#[macro_export]
macro_rules! conformance_tests {
    ($empty:path) => {
        $crate::conformance_tests! { $empty, many machines }
        $crate::conformance_tests! { $empty:
            ownership::a_silent_process_of_this_machine_is_alive,
        }
    };
    ($empty:path, many machines) => {
        $crate::conformance_tests! { $empty:
            approvals::a_question_is_kept_from_its_asking_to_its_end,
            approvals::every_end_of_a_question_has_its_word,
            approvals::an_answer_is_kept_with_its_question,
            approvals::a_decision_that_comes_to_nothing_leaves_the_question_pending,
            approvals::questions_are_listed_newest_first,
            approvals::a_question_is_found_by_what_a_person_types,
            boards::a_board_is_written_by_compare_and_set,
            boards::a_command_is_carried_out_once_under_its_name,
            boards::the_rows_of_a_board_tell_what_its_events_tell,
            boards::tasks_are_listed_in_pages,
            boards::events_of_all_boards_are_read_in_the_order_of_the_log,
            boards::a_delivery_that_is_claimed_comes_back_after_a_while,
            boards::tasks_whose_thread_rests_are_found,
            boards::a_thread_that_was_made_for_a_task_is_known_with_its_task,
            inputs::an_input_arrives_once,
            inputs::an_input_moves_the_head_on_for_the_next_commit,
            inputs::inputs_and_commits_interleave_without_a_gap,
            inputs::a_commit_may_hold_an_input_once,
            installation::a_consent_is_kept_once,
            installation::its_events_lie_in_the_log_and_in_no_threads,
            log::a_commit_is_numbered_in_its_three_orders,
            log::a_commit_that_expects_another_head_is_refused,
            log::of_many_commits_with_the_same_expectation_one_is_written,
            log::a_refused_commit_leaves_its_neighbours_alone,
            log::a_commit_that_makes_no_sense_is_refused,
            log::a_family_is_numbered_without_gaps,
            log::pages_join_to_the_whole,
            log::the_tail_tells_of_every_commit,
            ownership::a_new_thread_belongs_to_its_writer,
            ownership::a_living_owner_is_not_replaced,
            ownership::a_takeover_fences_off_the_old_owner,
            ownership::a_report_gives_up_ownership_unless_another_run_follows,
            ownership::a_process_that_leaves_owns_nothing,
            ownership::an_unknown_process_can_do_nothing,
            ownership::threads_without_an_owner_are_handed_out_by_what_is_asked_for,
            ownership::a_thread_is_given_up_with_a_commit_or_handed_over,
            ownership::the_store_says_whose_owner_is_alive,
            ownership::a_process_that_works_tasks_is_listed_while_it_lives,
            rows::a_thread_is_listed_as_it_stands,
            rows::threads_are_listed_newest_first_and_in_pages,
            rows::an_execution_goes_from_pending_to_its_end_once,
            rows::usage_is_summed_by_thread_and_model,
            rows::a_thread_is_found_by_what_a_person_types,
            rows::a_removed_family_leaves_nothing_behind,
            rows::what_people_say_of_a_thread_is_listed,
            rows::words_are_found_in_what_was_said,
            wakes::a_wake_goes_to_the_owner_when_it_is_due,
            wakes::a_claimed_wake_comes_back_unless_it_is_done,
            wakes::an_input_can_leave_a_wake,
        }
        $crate::conformance_tests! { $empty, two handles:
            boards::of_two_writers_of_a_board_one_decides_again,
            installation::what_one_changes_holds_for_the_other,
            processes::what_one_writes_the_other_reads_at_once,
            processes::of_two_writers_with_the_same_expectation_one_is_refused,
            processes::a_position_that_was_seen_gains_no_event_before_it,
            processes::a_tree_is_followed_from_either_side,
            processes::an_owner_is_alive_or_dead_for_both,
            processes::a_takeover_through_one_fences_off_the_other,
            processes::a_thread_without_an_owner_is_given_to_one_of_many_that_ask,
            processes::an_input_sent_through_one_wakes_the_owner_at_the_other,
        }
    };
    ($empty:path: $($topic:ident :: $check:ident,)+) => {
        $(
            #[tokio::test]
            async fn $check() {
                let (store, _other, _kept) = $empty();
                $crate::conformance::$topic::$check(store).await;
            }
        )+
    };
    ($empty:path, two handles: $($topic:ident :: $check:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                let (one, two, _kept) = $empty();
                $crate::conformance::$topic::$check(one, two).await;
            }
        )+
    };
}
