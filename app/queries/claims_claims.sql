select * from claims
order by claim_id
