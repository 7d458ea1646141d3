"""What it means that the service says no: an exception class, a status and an error code, all three checked."""

import json
import re
from contextlib import contextmanager

import pytest
from azure.core.exceptions import HttpResponseError


@contextmanager
def refused(status, code=None, kind=HttpResponseError):
    """Expects the block to fail with that status and, unless None, that code; yields what `pytest.raises` does."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.status_code == status, caught.value
    if code is not None:
        assert code_of(caught.value) == code


def code_of(error):
    """The service's code; `create_entity` raises errors on which the SDK has not set it, so the body is read."""
    code = getattr(error, "error_code", None)
    if code is not None:
        return getattr(code, "value", code)
    return body_code(error.response)


def body_code(response):
    """The code in an error's body, which is JSON or, from the service's front end, XML; None if there is no such."""
    text = response.text()
    try:
        return json.loads(text)["odata.error"]["code"]
    except (ValueError, KeyError, TypeError):
        element = re.search(r"<(?:m:)?code>(\w+)</", text, re.IGNORECASE)
        return element and element[1]


class Answer:
    """Captures the response to one call, for outcomes that the SDK hides or turns into its own exceptions.

    Passed as `raw_response_hook=answer`.
    """

    def __init__(self):
        self.response = None

    def __call__(self, pipeline_response):
        self.response = pipeline_response.http_response

    @property
    def status(self):
        return self.response.status_code

    @property
    def headers(self):
        return self.response.headers

    @property
    def code(self):
        return body_code(self.response)
