with

points as (

    select * from {{ ref('int_thread_points') }}

),

scaling as (

    select * from {{ ref('int_thread_scaling') }}

),

families as (

    select
        family_id,
        any_value(family) as family,
        any_value(origin) as origin,
        any_value(campaign) as campaign,
        any_value(product) as product,
        any_value(product_version) as product_version,
        any_value(protocol) as protocol,
        any_value(backend) as backend,
        any_value(backend_version) as backend_version,
        any_value(ha_mode) as ha_mode,
        any_value(scenario) as scenario,
        any_value(testbed) as testbed,
        any_value(tool) as tool,
        any_value(tool_version) as tool_version,
        any_value(method) as method,
        any_value(loss_goal) as loss_goal,
        any_value(usual_goal) as usual_goal,
        any_value(rate_unit) as rate_unit,
        {{ list_in_order('threads', 'threads') }} as thread_counts,
        {{ list_in_order('threads', 'threads', 'not is_used') }} as thread_counts_left_out,
        min(cpu_cores) as cpu_cores,
        min(cpu_threads) as cpu_threads
    from points
    group by family_id

)

select
    families.family_id,
    families.family,
    families.origin,
    families.campaign,
    families.product,
    families.product_version,
    families.protocol,
    families.backend,
    families.backend_version,
    families.ha_mode,
    families.scenario,
    families.testbed,
    families.tool,
    families.tool_version,
    families.method,
    families.loss_goal,
    families.usual_goal,
    families.rate_unit,
    families.thread_counts,
    coalesce(families.thread_counts_left_out, {{ list_of([]) }}) as thread_counts_left_out,
    families.cpu_cores,
    families.cpu_threads,
    scaling.threads_above_cores,
    scaling.status,
    scaling.reason,
    scaling.rate_one_thread,
    scaling.rate_one_thread_ci_low,
    scaling.rate_one_thread_ci_high,
    scaling.sigma,
    scaling.sigma_ci_low,
    scaling.sigma_ci_high,
    scaling.kappa,
    scaling.kappa_ci_low,
    scaling.kappa_ci_high,
    scaling.peak_threads,
    scaling.peak_threads_ci_low,
    scaling.peak_threads_ci_high,
    scaling.residual_ratio,
    scaling.next_threads,
    scaling.next_rate,
    scaling.next_gain_ratio
from families
inner join scaling on families.family_id = scaling.family_id
