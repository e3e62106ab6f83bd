create table reports engine = MergeTree order by tuple() as
select
    _path as path,
    replaceRegexpOne(replaceRegexpOne(_path, '[.]txt$', '.json'), 'dnsperf[.]out$', 'meta.json') as sidecar,
    raw_blob as content
from (
    select _path, raw_blob from file('$tree/**/rate*.txt', RawBLOB)
    union all
    select _path, raw_blob from file('$tree/**/dnsperf.out', RawBLOB)
);

create table trials engine = MergeTree order by path as
select
    path,
    extract(content, '(?:Running|Command line): (.*)') as command,
    toInt32OrNull(extract(content, ' -[rQ] (\d+) ')) as offered,
    toFloat64OrNull(extract(content, '(?:Rate|Queries per second): +([\d.e+]+)')) as rate,
    parseDateTime64BestEffortOrNull(JSONExtractString(said, 'start_utc'), 6) as start_utc,
    JSONExtractString(said, 'backend') as backend,
    JSONExtractString(said, 'mode') as mode,
    JSONExtractString(said, 'ha') as ha,
    JSONExtractInt(said, 'rep') as rep,
    JSONExtractString(said, 'host') as host
from reports
left join (
    select _path as sidecar, raw_blob as said from file('$tree/**/rate*.json', RawBLOB)
    union all
    select _path as sidecar, raw_blob as said from file('$tree/**/meta.json', RawBLOB)
) as sidecars using (sidecar)
where match(content, '(?:Rate|Queries per second): ');

create table exchanges engine = MergeTree order by path as
select
    path,
    extract(block, '^([^*]+)') as exchange,
    toInt64OrNull(extract(block, 'sent packets: (\d+)')) as sent,
    toInt64OrNull(extract(block, 'received packets: (\d+)')) as received,
    toInt64OrNull(extract(block, 'drops: (\d+)')) as drops,
    toFloat64OrNull(extract(block, 'min delay: ([\d.]+)')) as min_ms,
    toFloat64OrNull(extract(block, 'avg delay: ([\d.]+)')) as avg_ms,
    toFloat64OrNull(extract(block, 'max delay: ([\d.]+)')) as max_ms,
    toFloat64OrNull(extract(block, 'std deviation: ([\d.]+)')) as stdev_ms
from (
    select path, arrayJoin(arraySlice(splitByString('***Statistics for: ', content), 2)) as block
    from reports
)
where match(block, 'std deviation: ')
union all
select
    path,
    'query',
    toInt64OrNull(extract(content, 'Queries sent: +(\d+)')),
    toInt64OrNull(extract(content, 'Queries completed: +(\d+)')),
    toInt64OrNull(extract(content, 'Queries lost: +(\d+)')),
    1000 * toFloat64OrNull(extract(content, '\(min ([\d.]+)')),
    1000 * toFloat64OrNull(extract(content, 'Average Latency \(s\): +([\d.]+)')),
    1000 * toFloat64OrNull(extract(content, ', max ([\d.]+)')),
    1000 * toFloat64OrNull(extract(content, 'StdDev \(s\): +([\d.]+)'))
from reports
where match(content, 'Latency StdDev');

create table intervals engine = MergeTree order by path as
select
    path,
    found[1] as sent1,
    found[2] as sent2,
    found[3] as received1,
    found[4] as received2,
    found[5] as drops1,
    found[6] as drops2
from (
    select path, arrayMap(number -> toInt64(number), extractAll(line, '\d+')) as found
    from (
        select path, arrayJoin(extractAll(content, 'sent: [\d/]+; received: [\d/]+; drops: [\d/]+')) as line
        from reports
    )
);

drop table reports;
