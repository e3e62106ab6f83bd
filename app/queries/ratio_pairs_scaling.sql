-- Every family of thread counts at one loss goal: fitted ones first, then those with most counts.
select * from thread_scaling
where loss_goal in ('unstated', usual_goal)
order by status <> 'fitted', origin asc, family asc, campaign asc, len(thread_counts) desc, family_id
