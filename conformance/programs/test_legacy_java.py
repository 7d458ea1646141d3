"""The library com.microsoft.azure:azure-storage, which applications and Hadoop's wasb still use."""

import os

import pytest

from conftest import installed, program, run


@program("azure-storage for Java")
@pytest.mark.parametrize("job", ["blobs", "queues", "tables"])
def test_legacy_java_does_its_work(account, job):
    folder = installed("LEGACY_JAVA")  # The compiled jobs and the library.
    classes = os.pathsep.join([f"{folder}/classes", f"{folder}/lib/*"])
    run("java", "-cp", classes, "tablerock.Job", job, account.connection)
