"""Azure Table, Queue and Blob Storage for tests: a server of your own in milliseconds.

    import tablerock

    with tablerock.Server() as server:
        account = server.account()
        TableServiceClient.from_connection_string(account.connection_string)

With pytest, the fixture ``tablerock_account`` is a fresh account for each test.
"""

from tablerock._binary import find_binary
from tablerock._server import Account, Server, StartError

__all__ = ["Account", "Server", "StartError", "find_binary"]
