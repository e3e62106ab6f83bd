with

kinds as (

    select
        severity,
        finding,
        subject,
        case when severity <> 'info' then configuration_id end as configuration_id,
        count(*) as times,
        min({ 'place': coalesce(source_path, ''), 'id': finding_id, 'detail': coalesce(detail, '') }) as example
    from quality_findings
    where campaign in (select unnest($campaigns))
    group by all

)

select
    severity,
    replace(finding, '_', ' ') as finding,
    coalesce(configuration_id, '') as configuration,
    format('{:,} ({})', times, subject) as times,
    { 'text': example['detail'], 'detail': example['place'] } as for_example
from kinds
order by severity <> 'suspect', severity <> 'warning', finding, subject, example
