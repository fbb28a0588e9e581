"""`convo mcp` with the public client library. Usage: mcp_client.py CONVO"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CONVO = os.path.abspath(sys.argv[1])
EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SESSION = "8c1d5f6e"

CALLS = [
    ("list", {"limit": 3}, "Add a retry to the uploader"),
    ("search", {"pattern": "503", "max_count": 1}, SESSION),
    ("show", {"session": SESSION, "last": 1}, "Write the commit message."),
    ("count", {"session": SESSION}, "exchanges\t6\t6"),
]


async def main(store):
    server = StdioServerParameters(command=CONVO, args=["mcp"], env={"CONVO_STORE": store, "PATH": "/usr/bin:/bin"})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == ["list", "search", "show", "count"], tools
        for name, arguments, expected in CALLS:
            result = await session.call_tool(name, arguments)
            assert not result.is_error and expected in result.content[0].text, (name, result)
        result = await session.call_tool("show", {"session": "nobody"})
        assert result.is_error and "no such session" in result.content[0].text, result
        print(f"{hello.server_info.name} {hello.server_info.version}, protocol {hello.protocol_version}: {len(tools)} tools called")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([CONVO, "--store", folder, "migrate", "-q", str(EXAMPLES)], check=True, stdout=subprocess.DEVNULL)
        asyncio.run(main(folder))
