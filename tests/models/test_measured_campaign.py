"""The bundled campaigns that `dropline measure` made: a search gives narrow intervals and no warnings."""


def test_its_intervals_are_narrow_and_their_quality_is_ok(sql_of_examples):
    assert sql_of_examples(
        """select threading, runs, interval_kind, quality, (ci_high - ci_low) / lps < 0.12
        from leases_per_second where campaign = 'kea-2.2-measured' order by threading"""
    ) == [("multi", 9, "confidence", "ok", True), ("single", 9, "confidence", "ok", True)]


def test_two_threads_on_one_core_are_slower(sql_of_examples):
    found = sql_of_examples("select speedup, verdict from multithreading_speedup where campaign = 'kea-2.2-measured'")
    assert [(speedup < 0.8, verdict) for speedup, verdict in found] == [(True, "slower")]


def test_trials_that_differ_are_no_reason_to_doubt_who_was_measured(sql_of_examples):
    found = sql_of_examples(
        """select severity, count(*), any_value(detail) from quality_findings
        where campaign = 'kea-2.2-measured' and finding = 'trials_disagree' group by all"""
    )
    assert [each[:2] for each in found] == [("info", 3)]
    assert "the server configuration was the same" in found[0][2]
    assert not sql_of_examples(
        "select 1 from quality_findings where campaign = 'kea-2.2-measured' and subject = 'run' and severity <> 'info'"
    )


def test_powerdns_answers_what_it_passes(sql_of_examples):
    (found,) = sql_of_examples(
        """select runs, interval_kind, quality, (ci_high - ci_low) / rate < 0.061, rate between ci_low and ci_high
        from capacity where campaign = 'powerdns-4.7-measured' and loss_goal = 'permille'"""
    )
    assert found == (7, "confidence", "ok", True, True)


def test_gzipped_outputs_belong_to_their_sidecars(sql_of_examples):
    (found,) = sql_of_examples(
        """select count(*), count(*) filter (where list_contains(list_transform(
            warnings, lambda text: text like '%written for another output%'), true))
        from trials where campaign = 'powerdns-4.7-measured'"""
    )
    assert found == (54, 0)
