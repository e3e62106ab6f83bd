-- The schema `held`: the rows of the current version of each file, and the latest of each campaign and machine.
-- Semi joins bring no columns of another table. ingest/views.py adds the tables whose rows belong to a file.
-- noqa: disable=ST07,RF02
create schema held;

create temp table current_files as
select
    campaign,
    source_path,
    max(batch) as batch
from all_raw_files
group by campaign, source_path
having arg_max(status, batch) <> 'forgotten';

create temp table current_trials as
select
    trial_id,
    batch
from all_trials
semi join current_files using (campaign, source_path, batch);

create view held.exchanges as
select * exclude (batch, file_row_number) from all_exchanges
semi join current_trials using (trial_id, batch);

create view held.intervals as
select * exclude (batch, file_row_number) from all_intervals
semi join current_trials using (trial_id, batch);

create view held.observations as -- those of trials may have no file
select * exclude (batch, file_row_number) from all_observations
where
    (trial_id, batch) in (from current_trials)
    or (trial_id is null and (campaign, source_path, batch) in (from current_files));

create view held.campaigns as
select distinct on (campaign) * exclude (batch, file_row_number) from all_campaigns
order by campaign asc, batch desc, file_row_number desc;

create view held.hosts as
select distinct on (campaign, source_path) * exclude (batch, file_row_number) from all_hosts
order by campaign asc, source_path asc, batch desc, file_row_number desc;
