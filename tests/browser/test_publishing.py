"""What a reader with an open page sees when a build publishes."""

import re
import shutil

import duckdb
from conftest import watch

from dropline import publication
from dropline.paths import Home


def publish(home, source, day):
    built = home.root / "next.duckdb"
    shutil.copy(source / "warehouse.duckdb", built)
    duckdb.connect(str(built)).execute("update build_info set built_at = make_date(?)", [day]).close()
    with publication.alone(home, print):
        publication.publish(built, home)


def test_an_open_page_follows_a_publication_and_a_rollback_within_seconds(
    chromium, serve_home, warehouse_home, published_home, tmp_path
):
    home = Home(tmp_path)
    publish(home, warehouse_home, 20_000)
    with watch(chromium, serve_home(home.root)) as session:
        page = session.go()
        assert page.get_by_text(re.compile("Built on 04 Oct 2024")).count() == 1
        publish(home, published_home, 20_100)
        page.get_by_text(re.compile("Built on 12 Jan 2025")).wait_for(timeout=20_000)
        publication.rollback(home)
        page.get_by_text(re.compile("Built on 04 Oct 2024")).wait_for(timeout=20_000)
