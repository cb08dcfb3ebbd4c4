"""`frepo demo:fill`: what it prints, and what it refuses."""


def test_it_fills_an_empty_service_once(console):
    said = console.answer("demo:fill", "--collections", "1", "--seed", "3")

    [total, staged, named] = said.splitlines()
    assert total.startswith("The service has 1 collections with ")
    assert ("These problems are staged", "  suspicious: shop-postgres.sql.gz") == (staged[:25], named)
    assert 1 == console.count("collection")
    assert "has collections already" in console.refusal("demo:fill")


def test_the_number_of_collections_is_checked(console):
    assert "must be from 1 to 10000, not 0" in console.refusal("demo:fill", "--collections", "0")
    assert 0 == console.count("collection")
