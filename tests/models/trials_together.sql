-- Of `usual`, one of two trials at 2000/s loses too much, which is not more than half; at 3000/s both do. The median at
-- 2000/s is (1990 + 1900) / 2. Where no trial may exceed, one in two makes an upper bound.
create table loss_goals as select 'isc' as loss_goal, 0.025 as loss_limit, 'worst_exchange' as loss_basis, null as error_limit;

create table campaigns as
select * from (values ('usual', 'measured', null), ('strict', 'measured', 0)) as rows (campaign, origin, exceed_ratio);

create table capacity as
select configuration_id, configuration, 'isc' as loss_goal, campaign, 1900 as rate, 'leases/s' as rate_unit, 'bracketed' as status
from (values ('u', 'usual', 'usual'), ('s', 'no trial may exceed', 'strict')) as rows (configuration_id, configuration, campaign);

create table trials as
select *, null as loss_packet, null as loss_lease, null as error_ratio, false as is_unsustained, null as duplicate_of
from (values
    ('u', 'usual', 1000, 1000, 0, true),
    ('u', 'usual', 2000, 1990, 0.005, true),
    ('u', 'usual', 2000, 1900, 0.05, true),
    ('u', 'usual', 3000, 2700, 0.1, true),
    ('u', 'usual', 3000, 2700, 0.1, true),
    ('u', 'usual', 500, 1, 0.9, false),
    ('s', 'strict', 1000, 1000, 0, true),
    ('s', 'strict', 2000, 1990, 0.005, true),
    ('s', 'strict', 2000, 1900, 0.05, true)
) as rows (configuration_id, campaign, offered_rate, achieved_rate, loss_worst_exchange, completed);
