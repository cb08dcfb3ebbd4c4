def test_the_root_greets_everyone(app):
    answer = app.get("/")

    assert "frepo" in answer.json["message"]


def test_a_protected_endpoint_wants_a_token(app):
    answer = app.get("/version", status=403)

    assert answer.json["error_code"] == 403


def test_the_version_is_told_to_any_token(app, make_token):
    answer = app.get("/version", params={"_token": make_token()})

    assert answer.json == "0.1.0"


def test_an_unknown_path_answers_json(app):
    answer = app.get("/nowhere", status=404)

    assert answer.json == {
        "status": "There is nothing at this path",
        "error_code": 404,
        "http_code": 404,
        "exit_code": 404,
    }


def test_a_wrong_method_names_the_right_ones(app):
    answer = app.put("/version", status=405)

    assert answer.headers["Allow"] == "GET, HEAD"
