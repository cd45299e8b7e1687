"""What Label Studio sends: tokens and passwords are not even decoded."""

import msgspec
import pytest

from deplda.web.label_studio.messages import PredictRequest, SetupRequest, WebhookRequest
from tests.web.label_studio.recordings import recorded


@pytest.mark.parametrize("name", ["choices", "taxonomy"])
def test_no_token_and_no_password_is_decoded(name: str) -> None:
    kinds = {"/setup": SetupRequest, "/predict": PredictRequest, "/webhook": WebhookRequest}
    n_secret = 0
    for request in recorded(name):
        if request["path"] not in kinds:
            continue
        text = msgspec.json.encode(request["body"]).replace(b'"password":null', b'"password":"SEC"')
        text = text.replace(b'"scrubbed"', b'"SECRET"')
        n_secret += b'"SEC' in text
        decoded = msgspec.json.decode(text, type=kinds[request["path"]])
        assert "SEC" not in repr(decoded)
    assert n_secret > 5
