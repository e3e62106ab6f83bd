with

capacity as (

    select * from {{ ref('int_capacity') }}

),

student_t as (

    select * from {{ ref('student_t') }}

),

pairs as (

    {{ paired_capacities(
        'threading', ['threading', 'threads'],
        "treatment.threading = 'multi' and baseline.threading = 'single'"
    ) }}
    union all
    {{ paired_capacities(
        'ha_mode', ['ha_mode'],
        "treatment.ha_mode <> 'none' and baseline.ha_mode = 'none'"
    ) }}
    union all
    {{ paired_capacities(
        'backend', ['backend'],
        "treatment.backend <> baseline.backend"
    ) }}
    union all
    {{ paired_capacities(
        'protocol', ['protocol'],
        "treatment.protocol = 'DHCPv6' and baseline.protocol = 'DHCPv4'"
    ) }}

),

with_variances as (

    select
        *,
        treatment_rate / baseline_rate as ratio,
        -- variance of the logarithm of each mean, to first order
        treatment_stdev * treatment_stdev / (treatment_runs * treatment_mean * treatment_mean) as treatment_variance,
        baseline_stdev * baseline_stdev / (baseline_runs * baseline_mean * baseline_mean) as baseline_variance
    from pairs

),

with_degrees_of_freedom as (

    select
        *,
        sqrt(treatment_variance + baseline_variance) as log_ratio_error,
        -- Welch and Satterthwaite
        (treatment_variance + baseline_variance) * (treatment_variance + baseline_variance)
        / nullif(
            treatment_variance * treatment_variance / nullif(treatment_runs - 1, 0)
            + baseline_variance * baseline_variance / nullif(baseline_runs - 1, 0), 0
        ) as degrees_of_freedom
    from with_variances

),

with_interval as (

    select
        with_degrees_of_freedom.*,
        with_degrees_of_freedom.ratio * exp(-student_t.t_975 * with_degrees_of_freedom.log_ratio_error) as ci_low,
        with_degrees_of_freedom.ratio * exp(student_t.t_975 * with_degrees_of_freedom.log_ratio_error) as ci_high
    from with_degrees_of_freedom
    left join student_t
        on student_t.degrees_of_freedom
            = {{ tabulated_degrees_of_freedom('with_degrees_of_freedom.degrees_of_freedom') }}

)

select * from with_interval
