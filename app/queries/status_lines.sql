-- What a warehouse holds, line by line: its measured campaigns, the published figures, the findings of the measured.
with

campaign_lines as (

    select
        1 as place,
        campaign,
        format(
            'campaign   {}: {} configuration{}, {} run{}, {} trial{} from {} file{} ({} rejected)',
            campaign,
            configurations,
            if(configurations = 1, '', 's'),
            runs,
            if(runs = 1, '', 's'),
            trials,
            if(trials = 1, '', 's'),
            files,
            if(files = 1, '', 's'),
            rejected_files
        ) as line
    from campaigns
    where origin = 'measured'

),

published_configurations as (

    select configuration_id
    from configurations
    where origin = 'published'

),

counted_findings as (

    select
        severity,
        format('{} {}', count(*), severity) as counted
    from quality_findings
    where
        subject <> 'figure'
        and coalesce(configuration_id not in (from published_configurations), true)
    group by severity

),

lines as (

    select * from campaign_lines
    union all
    select
        2 as place,
        null as campaign,
        format('published  {} figures', count(*)) as line
    from published_figures
    union all
    select
        3 as place,
        null as campaign,
        'findings   ' || coalesce(string_agg(counted, ', ' order by severity), 'none') as line
    from counted_findings

)

select line from lines
order by place, campaign
