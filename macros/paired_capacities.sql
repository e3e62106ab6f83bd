{#-
    Pairs of capacities at the same loss goal whose configurations differ in one factor only.

    factor: name of the factor, as it stands in int_capacity_pairs.
    columns: the columns that make up the factor, in which the two may differ.
    condition: what makes the one the treatment and the other the baseline.

    Where several baselines fit, the one of the same campaign counts, else the one measured nearest in time.
    Backend and generator versions and the queue size may differ: they are tuning, listed by the comparison.
-#}
{% macro paired_capacities(factor, columns, condition) -%}
    {%- set shared = [
        'product', 'product_version', 'protocol', 'backend', 'threading', 'threads', 'ha_mode', 'scenario', 'testbed',
        'tool', 'method', 'unnamed_folder', 'rate_unit', 'origin', 'loss_goal',
    ] -%}
    select
        '{{ factor }}' as factor,
        treatment.loss_goal,
        treatment.rate_unit,
        baseline.configuration_id as baseline_configuration_id,
        treatment.configuration_id as treatment_configuration_id,
        baseline.rate as baseline_rate,
        treatment.rate as treatment_rate,
        baseline.rate_undisturbed as baseline_undisturbed,
        treatment.rate_undisturbed as treatment_undisturbed,
        baseline.stdev_undisturbed as baseline_stdev,
        treatment.stdev_undisturbed as treatment_stdev,
        baseline.runs_undisturbed as baseline_undisturbed_runs,
        treatment.runs_undisturbed as treatment_undisturbed_runs,
        baseline.rated_runs as baseline_runs,
        treatment.rated_runs as treatment_runs
    from capacity as treatment
    inner join capacity as baseline
        on {{ condition }}
        {%- for column in shared if column not in columns %}
            and treatment.{{ column }} is not distinct from baseline.{{ column }}
        {%- endfor %}
    where treatment.rate > 0 and baseline.rate > 0
    qualify row_number() over (
        partition by
            treatment.configuration_id, treatment.loss_goal
            {%- for column in columns %}, baseline.{{ column }}{% endfor %}
        order by
            (baseline.campaign = treatment.campaign) desc,
            abs(date_diff('second', baseline.first_started_at, treatment.first_started_at)),
            (baseline.backend_version is not distinct from treatment.backend_version) desc,
            baseline.configuration_id
    ) = 1
{%- endmacro %}
