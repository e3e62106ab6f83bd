create table reports as
select
    filename as path,
    regexp_replace(regexp_replace(filename, '[.]txt$', '.json'), 'dnsperf[.]out$', 'meta.json') as sidecar,
    content
from read_text(['$tree/**/rate*.txt', '$tree/**/dnsperf.out']);

create table trials as
with sidecars as (
    select
        filename as path,
        json_extract_string(content, ['start_utc', 'backend', 'mode', 'ha', 'rep', 'host']) as said
    from read_text(['$tree/**/rate*.json', '$tree/**/meta.json'])
)

select
    reports.path,
    regexp_extract(content, '(?:Running|Command line): (.*)', 1) as command,
    regexp_extract(content, ' -[rQ] (\d+) ', 1)::integer as offered,
    regexp_extract(content, '(?:Rate|Queries per second): +([\d.e+]+)', 1)::double as rate,
    said[1]::timestamp as start_utc,
    said[2] as backend,
    said[3] as mode,
    said[4] as ha,
    said[5]::integer as rep,
    said[6] as host
from reports
left join sidecars on reports.sidecar = sidecars.path
where regexp_matches(content, '(?:Rate|Queries per second): ');

create table exchanges as
with blocks as (
    select
        path,
        unnest(string_split(content, '***Statistics for: ')[2:]) as block
    from reports
)

select
    path,
    regexp_extract(block, '^([^*]+)', 1) as exchange,
    regexp_extract(block, 'sent packets: (\d+)', 1)::bigint as sent,
    regexp_extract(block, 'received packets: (\d+)', 1)::bigint as received,
    regexp_extract(block, 'drops: (\d+)', 1)::bigint as drops,
    regexp_extract(block, 'min delay: ([\d.]+)', 1)::double as min_ms,
    regexp_extract(block, 'avg delay: ([\d.]+)', 1)::double as avg_ms,
    regexp_extract(block, 'max delay: ([\d.]+)', 1)::double as max_ms,
    regexp_extract(block, 'std deviation: ([\d.]+)', 1)::double as stdev_ms
from blocks
where regexp_matches(block, 'std deviation: ')
union all
select
    path,
    'query',
    regexp_extract(content, 'Queries sent: +(\d+)', 1)::bigint,
    regexp_extract(content, 'Queries completed: +(\d+)', 1)::bigint,
    regexp_extract(content, 'Queries lost: +(\d+)', 1)::bigint,
    1000 * regexp_extract(content, '\(min ([\d.]+)', 1)::double,
    1000 * regexp_extract(content, 'Average Latency \(s\): +([\d.]+)', 1)::double,
    1000 * regexp_extract(content, ', max ([\d.]+)', 1)::double,
    1000 * regexp_extract(content, 'StdDev \(s\): +([\d.]+)', 1)::double
from reports
where regexp_matches(content, 'Latency StdDev');

create table intervals as
with lines as (
    select
        path,
        unnest(regexp_extract_all(content, 'sent: [\d/]+; received: [\d/]+; drops: [\d/]+')) as line
    from reports
),

counters as (
    select
        path,
        regexp_extract_all(line, '\d+') as found
    from lines
)

select
    path,
    found[1]::bigint as sent1,
    found[2]::bigint as sent2,
    found[3]::bigint as received1,
    found[4]::bigint as received2,
    found[5]::bigint as drops1,
    found[6]::bigint as drops2
from counters;

drop table reports;
