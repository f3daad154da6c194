"""Pages to look at, made of the JSON reports of nodewise's commands. Needs no MPI.

The extra `report` brings what it needs: pip install "nodewise[report]".
"""

from .command import main, take_report_option, with_page
from .documents import ReportError
from .page import write_page

__all__ = ["ReportError", "main", "take_report_option", "with_page", "write_page"]
