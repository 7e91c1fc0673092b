"""Write the dashboards' JSON files: `python -m dashboards`."""

import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.platform_dashboard import platform
from dashboards.team_dashboard import team

FOLDER = Path(__file__).parent


def texts() -> dict[str, str]:
    """Return the content of each file by its name."""
    boards = {"platform.json": platform(), "team.json": team()}
    return {
        name: json.dumps(board, cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, board in boards.items()
    }


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text)
