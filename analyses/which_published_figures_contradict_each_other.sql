-- Which published figures does their own source contradict, print in two places, misread or get wrong?
with

findings as (

    select * from {{ ref('quality_findings') }}
    where
        subject = 'figure'
        and finding in (
            'contradicted_in_source', 'duplicate_value_in_other_cell', 'identical_figures', 'min_greater_than_average',
            'misread_by_source', 'off_by_one_run_against_raw_log', 'scale_typo_in_source', 'source_contradicts_itself'
        )

),

figures as (

    select * from {{ ref('published_figures') }}

),

contradictions as (

    select
        findings.finding,
        figures.publisher,
        figures.source_title,
        figures.location,
        figures.metric,
        figures.value,
        figures.unit,
        findings.detail,
        figures.figure_id,
        figures.source_url
    from findings
    inner join figures on findings.subject_id = figures.figure_id

)

select * from contradictions
order by finding, figure_id
