"""Collections with the strategy `keep`."""

NO_RULES = dict.fromkeys(("last", "hourly", "daily", "weekly", "monthly", "yearly"), 0)


def test_one_version_may_replace_all_others(make_collection, push, numbers):
    collection = make_collection(strategy="keep", strategy_options=NO_RULES | {"last": 1})
    for content in (b"one", b"two", b"three"):
        push(collection, content)

    assert numbers(collection) == [3]
