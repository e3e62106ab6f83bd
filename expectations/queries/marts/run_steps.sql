select
    runs.campaign,
    run_steps.configuration_id,
    run_steps.offered_rate,
    run_steps.achieved_rate,
    greatest(
        run_steps.loss_worst_exchange, run_steps.loss_packet, run_steps.loss_lease
    ) as highest_loss
from run_steps
inner join runs on run_steps.run_id = runs.run_id
