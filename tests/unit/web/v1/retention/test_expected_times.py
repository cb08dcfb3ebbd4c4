"""When backups are expected, by cron or by a length of time."""

V1 = "/api/v1"


def test_the_times_of_an_expectation_are_listed(root):
    def times(every, **more):
        answer = root.get(f"{V1}/expected-times", {"every": every, "since": "2026-03-28T12:00:00Z", **more})
        assert 200 == answer.status_int, answer.json
        return answer.json["items"]

    assert ["2026-03-29T00:30:00Z", "2026-03-29T23:30:00Z"] == times("30 1 * * * Europe/Warsaw", limit=2)
    assert ["2026-03-28T12:00:00Z", "2026-03-28T18:00:00Z"] == times("6h")[:2]
    answer = root.get(f"{V1}/expected-times", {"every": "61 2 * * *"})
    assert (400, "every") == (answer.status_int, answer.json["errors"][0]["field"])
