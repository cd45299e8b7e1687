"""The description of Label Studio's routes; Schemathesis tries whether it is true."""

from deplda.web.label_studio.addresses import label_studio_description


def test_every_route_is_described() -> None:
    found = label_studio_description(["a", "b"]).paths
    posts = ("setup", "predict", "webhook")
    one = "/label-studio/{project_id}"
    assert set(found) == {f"{one}/health"} | {
        f"{prefix}/{name}" for prefix in ("", one) for name in posts
    }
    (which,) = found[f"{one}/predict"]["post"]["parameters"]
    assert which["schema"]["enum"] == ["a", "b"]
    assert found["/predict"]["post"]["parameters"] == []
    assert {"200", "201", "507"} <= set(found["/webhook"]["post"]["responses"])
