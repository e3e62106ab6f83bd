-- Every configuration with its capacity at a goal, its months and tags, and the texts to search in lower case;
-- measured, new and fast ones first. The months are those of the runs, or that in which the source was published.
-- Published figures without a stated limit are shown for every goal.
with

figures as (

    select
        configuration_id,
        loss_goal,
        loss_limit,
        loss_basis,
        last_passing_rate,
        first_exceeding_rate,
        rate,
        rate_at_most,
        interval_kind,
        ci_low,
        ci_high,
        rate_interpolated,
        status,
        qualifier,
        quality,
        findings,
        loss_goal = coalesce($loss_goal, usual_goal) as is_asked
    from capacity
    where is_asked or (origin = 'published' and loss_goal = 'unstated')
    qualify row_number() over (partition by configuration_id order by is_asked desc) = 1

),

months as (

    select
        configuration_id,
        list_transform(list(distinct date_trunc('month', started_at)), lambda month: strftime(month, '%Y-%m')) as months
    from runs
    where started_at is not null
    group by configuration_id

)

select
    configurations.*,
    figures.loss_goal,
    figures.loss_limit,
    figures.loss_basis,
    figures.last_passing_rate,
    figures.first_exceeding_rate,
    figures.rate,
    figures.rate_at_most,
    figures.interval_kind,
    figures.ci_low,
    figures.ci_high,
    figures.rate_interpolated,
    figures.status,
    figures.qualifier,
    figures.quality,
    figures.findings,
    coalesce(months.months, [strftime(campaigns.started_on, '%Y-%m')]) as months,
    if(len(campaigns.tags) > 0, list_distinct(campaigns.tags), [null]) as tags,
    lower(concat_ws(
        ' ', configurations.configuration, if(configurations.ha_mode <> 'none', 'HA high availability', ''),
        configurations.campaign, configurations.method, configurations.testbed,
        replace(array_to_string(figures.findings, ' '), '_', ' ')
    )) as searched,
    lower(concat_ws(' ', searched, campaigns.title, campaigns.description)) as described
from configurations
left join campaigns
    on configurations.campaign = campaigns.campaign and configurations.origin = campaigns.origin
left join figures on configurations.configuration_id = figures.configuration_id
left join months on configurations.configuration_id = months.configuration_id
order by
    configurations.origin asc,
    figures.rate is null asc,
    configurations.rate_unit asc,
    configurations.is_newest desc,
    figures.rate desc,
    configurations.configuration_id asc
