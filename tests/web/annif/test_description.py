"""The description of Annif's routes; Schemathesis tries whether it is true (test_openapi)."""

from typing import Any

import httpx


def test_every_route_is_described_with_its_values(annif: httpx.Client) -> None:
    description = annif.get("/openapi.json").json()
    paths = description["paths"]
    one = "/v1/projects/{project_id}"
    ours = {path for path in paths if path.startswith(("/v1/projects", "/v1/vocabs", "/v1/detect"))}
    assert ours | {"/v1/"} == {
        "/v1/", "/v1/vocabs", "/v1/projects", one, f"{one}/suggest", f"{one}/suggest-batch",
        f"{one}/learn", "/v1/detect-language",
    }  # fmt: skip
    which, *wanted = paths[f"{one}/suggest-batch"]["post"]["parameters"]
    assert which["schema"]["enum"] == ["law-fi", "plain", "counts", "scores"]
    schemas: Any = {each["name"]: each["schema"] for each in wanted}
    assert schemas["language"]["enum"] == ["", "en", "fi", "und"]
    assert schemas["limit"]["default"] == 10
    learned = paths[f"{one}/learn"]["post"]["responses"]
    assert {"204", "403", "507"} <= set(learned)
    problem = learned["404"]["content"]["application/problem+json"]["schema"]
    assert problem["$ref"].endswith("/Problem")
