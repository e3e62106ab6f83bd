select
    severity,
    finding,
    subject,
    detail,
    source_path
from quality_findings
where configuration_id = $configuration_id
    and (run_id is null or run_id = $run_id)
    and (trial_id is null or trial_id = $trial_id)
order by severity <> 'suspect', severity <> 'warning', subject, finding, detail
