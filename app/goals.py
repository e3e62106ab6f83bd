"""Choice of the loss goal on a page that shows several protocols."""

from typing import Final

from dropline.app import queries, widgets, wording
from dropline.app.warehouse import Warehouse

_USUAL: Final = "usual"


def choose(warehouse: Warehouse, key: str = "goal") -> str | None:
    """Return the loss goal that the visitor chose; None, the default, means each unit's usual goal."""
    known = queries.loss_goals(warehouse)
    dhcp, other = (queries.loss_goals(warehouse, [unit])[0]["loss_limit"] for unit in ("leases/s", "queries/s"))
    columns = ("loss_goal", "loss_limit", "loss_basis")
    texts = {each["loss_goal"]: wording.loss_goal(*(each[name] for name in columns)) for each in known}
    usual = {_USUAL: f"usual: DHCP {100 * dhcp:g} %, others {100 * other:g} %"}
    with widgets.reserved(widgets.FIELD_PIXELS):
        chosen = widgets.choose_one("Loss goal", key, usual | texts)
    return None if chosen == _USUAL else chosen
