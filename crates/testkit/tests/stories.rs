//! Every story is told, and goes as it is written.

macro_rules! stories {
    ($($name:ident)*) => {
        const TOLD: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                majordomo_testkit::story::check(stringify!($name));
            }
        )*
    };
}

stories! {
    a_background_report_is_pushed_and_the_root_is_not_done_before
    a_call_cut_at_its_length_is_asked_for_once_more
    a_call_that_succeeds_starts_the_count_of_failures_again
    a_call_under_a_used_name_gets_a_name_of_its_own
    a_child_at_its_limit_of_calls_gets_one_last_turn
    a_child_at_the_end_of_its_tokens_says_what_it_has
    a_child_in_plan_mode_cannot_write
    a_child_is_never_given_more_than_its_parent_has
    a_child_of_opta_never_asks_the_person
    a_child_sees_its_brief_and_nothing_of_its_parent
    a_child_that_loops_is_an_error_that_its_parent_reads
    a_child_that_waited_in_line_over_a_crash_gets_its_whole_time
    a_child_whose_provider_is_gone_reports_an_error
    a_command_that_ran_and_failed_is_no_sign_of_a_loop
    a_context_that_the_provider_finds_too_long_is_squeezed_once
    a_conversation_that_was_killed_goes_on_with_every_call_answered
    a_delegation_to_an_unknown_agent_starts_nothing
    a_failed_subtask_skips_what_depends_on_it_alone
    a_failed_subtask_stops_the_rest
    a_failed_subtask_stops_those_that_run_beside_it
    a_grant_of_tokens_that_is_billed_keeps_a_closing_word
    a_kill_after_a_cancel_is_stronger_and_a_second_cancel_is_nothing
    a_kill_ends_a_subtree_without_a_word
    a_last_word_that_cannot_be_had_leaves_the_end_as_it_was
    a_list_that_is_no_graph_starts_nothing
    a_message_reaches_a_running_child_and_a_finished_one_goes_on
    a_message_that_crosses_the_answer_gives_the_child_another_turn
    a_model_that_declines_is_an_error_with_its_words
    a_panic_ends_one_agent_and_its_sibling_lives
    a_parent_at_its_limit_waits_for_its_children_before_its_last_turn
    a_parent_that_fails_takes_its_children_with_it
    a_provider_that_counts_nothing_is_estimated
    a_provider_that_reports_more_than_was_asked_is_booked_and_ends_the_thread
    a_question_to_a_person_survives_a_crash_and_its_answer_is_the_result_of_the_call
    a_report_that_comes_twice_counts_once
    a_report_that_comes_while_the_parent_works_is_read_with_its_results
    a_report_that_crosses_a_stop_wins
    a_result_that_is_too_long_for_the_model_is_cut_with_a_note
    a_request_is_tried_five_times_and_then_given_up
    a_request_that_is_tried_again_counts_again
    a_request_that_must_fail_again_is_not_repeated
    a_second_message_waits_for_the_next_run
    a_server_that_does_not_take_a_part_of_a_request_is_asked_at_once_without_it
    a_spawn_costs_its_parent_one_call_whatever_the_child_does
    a_spawn_that_cannot_be_understood_starts_nothing
    a_spawn_that_would_leave_too_little_is_refused
    a_stall_is_noticed_once_and_again_after_a_sign_of_life
    a_stop_survives_a_crash
    a_subtask_out_of_time_hands_on_what_it_has
    a_tool_outside_the_list_is_refused_and_counts
    a_tool_that_hangs_is_stopped_at_the_deadline
    a_wait_survives_a_crash
    a_wish_to_wait_is_honoured_up_to_a_minute_and_never_shortened
    after_a_crash_a_lost_request_is_booked_and_made_again
    after_a_crash_a_retry_still_waits_for_its_time
    after_a_crash_a_whole_family_goes_on
    after_a_crash_readers_run_again_and_a_writer_is_in_doubt
    an_agent_made_for_less_stays_so
    an_answer_cut_at_its_length_goes_on_and_is_joined
    an_answer_cut_before_it_says_anything_is_asked_for_once_more
    an_answer_that_breaks_off_is_booked_and_asked_for_again
    an_answer_that_crosses_a_stop_is_kept
    an_answer_that_is_cut_again_and_again_is_taken_as_it_is
    an_answer_that_misses_its_schema_is_asked_for_twice_more
    an_answer_that_cannot_be_understood_is_asked_for_again_twice
    an_ask_in_a_child_is_never_made_an_allow
    an_empty_answer_is_no_output
    an_overloaded_provider_is_asked_for_two_minutes
    another_call_in_between_ends_a_row_of_identical_ones
    answers_whose_calls_all_fail_end_the_agent
    below_the_deepest_level_there_are_no_verbs
    calls_between_two_pieces_of_an_answer_part_them
    cut_answers_of_every_kind_count_together
    eight_subtasks_share_four_permits
    five_answers_without_a_readable_call_end_the_agent
    in_auto_mode_files_are_free_and_commands_ask
    in_plan_mode_there_are_no_writers_and_no_verbs
    markup_in_a_report_stays_data
    money_is_carved_and_runs_out_like_tokens
    most_of_a_grant_is_warned_about_once
    nothing_said_after_a_refusal_is_refused
    old_results_are_masked_before_the_conversation_is_summed_up
    one_that_waits_in_line_can_be_stopped_and_not_told
    readers_run_side_by_side_and_a_writer_alone
    requests_are_carved_and_run_out_like_tokens
    small_slips_in_a_spawn_are_understood
    steering_is_read_at_the_next_turn
    stop_goes_down_and_ends_come_up
    stopping_one_child_brings_its_report_as_the_result
    sub_agents_that_are_switched_off_are_not_there
    subtasks_run_one_after_the_other_and_hand_their_results_on
    subtasks_that_wait_keep_their_share
    the_deadline_of_a_root_ends_its_children
    the_fifth_identical_call_is_refused_and_the_eighth_ends_the_agent
    the_time_of_a_child_is_over_and_its_request_really_ends
    too_many_subtasks_start_nothing
    waiting_for_all_ends_with_the_last_or_with_its_time
    waiting_for_any_ends_with_the_first
    what_a_child_does_not_spend_flows_back
    what_a_preset_does_not_show_cannot_be_asked_for
    what_arrives_while_nobody_runs_is_taken_up_by_the_next
    what_was_refused_in_one_run_is_not_held_against_the_next
    whole_calls_before_a_cut_one_are_run_and_are_progress
    words_before_an_empty_end_are_kept_and_still_no_success
    words_that_nobody_read_are_reported_as_unfinished
}

#[test]
fn every_story_on_disk_is_told() {
    let mut told: Vec<&str> = TOLD.to_vec();
    told.sort_unstable();
    assert_eq!(majordomo_testkit::story::on_disk(), told, "the stories on disk (left) are those that are told (right)");
}
