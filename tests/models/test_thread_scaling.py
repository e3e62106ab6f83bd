"""Thread scaling in the warehouse: the examples' two points, and a published series by thread count."""

import pytest

from dropline.inference.scaling import law, summarise


def test_two_thread_counts_give_an_efficiency_and_no_law(sql):
    rows = sql(
        """select status, thread_counts, threads_above_cores, sigma, threads, efficiency_ratio, points.rate
        from thread_scaling as scaling inner join thread_scaling_points as points using (family_id)
        where scaling.campaign = 'kea-2.2-backends' and scaling.backend = 'mysql' and scaling.loss_goal = 'isc'
        order by threads"""
    )
    one, four = rows
    assert one[:6] == ("two_points", [1, 4], [4], None, 1, 1.0)
    assert four[5] == pytest.approx(four[6] / (4 * one[6]))


def test_a_published_series_is_fitted_as_its_figures_say(sql):
    """sdns on one machine, medians of the runs at 8, 12, 16 and 32 threads, from its BENCHMARKS.md."""
    threads, rates = [8, 12, 16, 32], [394000, 439000, 462000, 418000]
    expected = summarise(threads, rates)
    columns = "status, reason, rate_one_thread, sigma, kappa, sigma_ci_low, sigma_ci_high, kappa_ci_high, peak_threads"
    columns += ", next_threads, next_gain_ratio"
    [(family, *row)] = sql(
        f"""select family_id, {columns}
        from thread_scaling where campaign = 'sdns-benchmarks-2026' and thread_counts = [8, 12, 16, 32]"""
    )
    assert row == [expected.get(name) for name in columns.split(", ")]
    assert "peak_threads" not in expected, "four single figures do not exclude kappa = 0"
    points = sql("select threads, rate, fitted_rate from thread_scaling_points where family_id = ? order by 1", family)
    assert [point[:2] for point in points] == list(zip(threads, rates, strict=True))
    for count, rate, fitted in points:
        assert fitted == pytest.approx(law(count, *row[2:5]))
        assert fitted == pytest.approx(rate, rel=0.01)


def test_every_law_keeps_to_its_range(sql):
    fitted = sql(
        """select sigma, kappa, residual_ratio, len(thread_counts) - len(thread_counts_left_out)
        from thread_scaling where status = 'fitted'"""
    )
    assert fitted
    for sigma, kappa, residual, counts in fitted:
        assert 0 <= sigma <= 1
        assert kappa >= 0
        assert residual <= 0.10
        assert counts >= 3
    assert sql("select count(*) from thread_scaling where status <> 'fitted' and sigma is not null") == [(0,)]


def test_every_family_says_why(sql):
    assert sql("select count(*) from thread_scaling where reason = ''") == [(0,)]
