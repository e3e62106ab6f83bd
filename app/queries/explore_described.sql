-- the months are those of the runs, or that in which the source was published
with

months as (

    select
        configuration_id,
        list_transform(list(distinct date_trunc('month', started_at)), lambda month: strftime(month, '%Y-%m')) as months
    from runs
    where started_at is not null
    group by configuration_id

),

described as (

    select
        configurations.*,
        coalesce(months.months, [strftime(campaigns.started_on, '%Y-%m')]) as months,
        if(len(campaigns.tags) > 0, list_distinct(campaigns.tags), [null]) as tags,
        figures.quality,
        len(list_filter(
            cast($words as varchar[]),
            lambda word: not contains(
                lower(concat_ws(
                    ' ', configurations.configuration, if(configurations.ha_mode <> 'none', 'HA high availability', ''),
                    configurations.campaign, campaigns.title,
                    campaigns.description, configurations.method, configurations.testbed,
                    replace(array_to_string(figures.findings, ' '), '_', ' ')
                )),
                word -- noqa: RF02
            )
        )) = 0 as is_found
    from configurations
    left join campaigns
        on configurations.campaign = campaigns.campaign and configurations.origin = campaigns.origin
    left join figures on configurations.configuration_id = figures.configuration_id
    left join months on configurations.configuration_id = months.configuration_id

)

select * from described
