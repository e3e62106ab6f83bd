select
    batch,
    trial_id,
    exchange,
    position + 1 as line,
    sent,
    received,
    sent - interval_sent as sent_before,
    received - interval_received as received_before,
    least(sent, received, rejected) as lowest_interim_count
from intervals
