"""The home page: results of every night."""

from tests.app.shown import links, said
from tests.homes import changed


def test_nights_of_one_set_up_do_not_hide_the_others(open_page, warehouse_home, tmp_path):
    one = "(select min(configuration_id) from runs where configuration = 'ISC Kea 2.2.0 DHCPv4 memfile multi x4')"
    copied = "select {0}.* replace ('night' || night as {1}{2}) from {0}, range(20) as nights(night) where {1} = "
    night = f"insert into {{0}} {copied}"
    older = ", 'night' || night as campaign, false as is_newest"
    home = changed(
        warehouse_home,
        tmp_path,
        night.format("ratios", "treatment_configuration_id", "") + one,
        night.format("capacity", "configuration_id", older) + one,
        night.format("configurations", "configuration_id", older) + one,
        "update capacity set rate = 20000 where campaign like 'night%'",
    )
    told = said(open_page(home))
    assert "memfile, 1 thread: about 12,178 leases/s" in told
    assert "Only the newest results; 20 earlier ones of the same set-ups are in Trends" in links(open_page(home))
    assert "20,000 leases/s" in said(open_page(home, only_campaign="night7"))
    assert "Only the newest results; choose campaigns for 20 earlier pairs." in said(open_page(home, "speedups"))
