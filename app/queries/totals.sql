select
    (select count(*) from configurations) as configurations,
    (
        select count(*) from configurations
        where origin = 'measured'
    ) as measured,
    (select count(distinct campaign) from configurations) as campaigns,
    (select count(*) from runs) as runs,
    (select count(*) from trials) as trials,
    (
        select count(*) from quality_findings
        where finding = 'rejected'
    ) as rejected
