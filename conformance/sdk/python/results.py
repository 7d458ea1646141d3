"""Writes one JSON line per case to the file named by CONFORMANCE_RESULTS.

A case names the operation it is about with `@operation("InsertEntity")`; a parameter may override that of its
test. The case's name is the test's name without `test_`, followed by the parameter in brackets. The plugin is
shared with the `az` suite; each suite states its name in `pytest.ini`.
"""

import json
import os
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"

#: Every name in backticks in the README's list, which is also the list of the documentation's rows.
OPERATIONS = set(re.findall(r"`(\w+)`", re.search(r"\nOperations:(.*?)\n\n", README.read_text("utf-8"), re.DOTALL)[1]))

DETAIL_CHARS_MAX = 400


def operation(name):
    """Marks a test, or one parameter of it, as a case about the named operation."""
    if name not in OPERATIONS:
        raise ValueError(f"{name} is not an operation of the service")
    return pytest.mark.operation(name)


def pytest_addoption(parser):
    parser.addini("conformance_suite", "the suite's name in result lines")


def pytest_configure(config):
    config.addinivalue_line("markers", "operation(name): the service operation this case is about")


def pytest_collection_modifyitems(items):
    seen = set()
    for item in items:
        if item.get_closest_marker("operation") is None:
            raise pytest.UsageError(f"{item.nodeid} names no operation")
        if item.name in seen:
            raise pytest.UsageError(f"the case {item.name} exists twice")
        seen.add(item.name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Keeps the first verdict that is not a pass, and writes it once the case has been torn down."""
    report = yield
    verdict = getattr(item, "conformance_verdict", ("passed", ""))
    if verdict[0] == "passed" and not report.passed:
        verdict = (report.outcome, describe(report))
    item.conformance_verdict = verdict
    if report.when == "teardown":
        write_line(item, *verdict)
    return report


def describe(report):
    if report.skipped:
        _, _, reason = report.longrepr
        return reason.removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return " ".join(text.split())[:DETAIL_CHARS_MAX]


def write_line(item, outcome, detail):
    path = os.environ.get("CONFORMANCE_RESULTS")
    if not path:
        return
    line = {
        "suite": item.config.getini("conformance_suite"),
        "operation": item.get_closest_marker("operation").args[0],
        "case": item.name.removeprefix("test_"),
        "outcome": outcome,
        "detail": detail,
    }
    with open(path, "a", encoding="utf-8") as results:
        results.write(json.dumps(line) + "\n")
