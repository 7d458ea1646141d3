"""What the cases of all three services share: the account, and assertions that explain themselves."""

import pytest

from account import Account

# Helpers assert as well; without this their failures would say nothing but "AssertionError".
pytest.register_assert_rewrite("refusal", "edm_values", "table_sas", "queue_sas", "blob_sas", "blob_contents")

pytest_plugins = ["results"]


@pytest.fixture(scope="session")
def account():
    return Account.from_environment()
