"""Celery: its broker is kombu on queues, its results are blobs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import program

RESULT_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30


@pytest.fixture(scope="module")
def tasks(service):
    """The application, with a worker that runs until the last job is done."""
    import celery_tasks

    words = ["-m", "celery", "--app", "celery_tasks", "worker", "--pool", "solo", "--loglevel", "WARNING"]
    words += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    worker = subprocess.Popen(
        [sys.executable, *words], cwd=Path(__file__).parent, env=os.environ, stdout=sys.stderr, stderr=sys.stderr
    )
    yield celery_tasks
    worker.terminate()
    worker.wait(STOP_SECONDS_MAX)
    service.delete_container("celery-results")


@program("Celery")
def test_celery_runs_tasks_and_keeps_their_results(tasks):
    from celery import group

    results = group(tasks.add.s(number, number) for number in range(8)).apply_async()
    assert results.get(timeout=RESULT_SECONDS_MAX) == [2 * number for number in range(8)]


@program("Celery")
def test_celery_retries_and_reports_failures(tasks):
    assert tasks.fails_once.delay().get(timeout=RESULT_SECONDS_MAX) == 1
    failed = tasks.fails.delay()
    with pytest.raises(ValueError, match="as asked"):
        failed.get(timeout=RESULT_SECONDS_MAX)
    assert failed.state == "FAILURE"
    failed.forget()


@program("Celery")
def test_celery_chains_tasks_and_purges_queues(tasks):
    chain = tasks.add.s(1, 2) | tasks.add.s(10) | tasks.add.s(100)
    assert chain().get(timeout=RESULT_SECONDS_MAX) == 113
    tasks.add.apply_async((1, 1), queue="unused")
    with tasks.app.connection_for_write() as connection:
        queue = connection.SimpleQueue("unused")
        assert queue.qsize() == 1
        queue.clear()
        assert queue.qsize() == 0
        queue.close()
