"""The binary that the package brings."""

import os
import shutil
import sys
import sysconfig


def find_binary() -> str:
    """Returns the path of the binary ``tablerock``.

    The variable ``TABLEROCK_BINARY`` chooses another one.
    """
    chosen = os.environ.get("TABLEROCK_BINARY")
    if chosen:
        return chosen
    name = "tablerock.exe" if sys.platform == "win32" else "tablerock"
    # An installation for one user, or with a target folder, has its scripts elsewhere.
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")),
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found:
        return found
    raise FileNotFoundError(
        f"the binary {name} is not in {', '.join(folders)} and not in the PATH: "
        "install the package again, or set TABLEROCK_BINARY"
    )
