-- Every family of thread counts at one loss goal, fitted ones first.
select * from thread_scaling
where loss_goal in ('isc', 'unstated')
order by status <> 'fitted', origin, family, campaign
