"""Events for operators: one JSON line each on standard error, for standard output belongs to results.

structlog is loaded with the first event: half a second that a command without events need not spend. An entry point may
have configured another form before.
"""

import sys
from typing import Any


def _logger() -> Any:
    import structlog

    if not structlog.is_configured():
        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso"),
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
            logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        )
    return structlog.get_logger()


def info(event: str, **fields: Any) -> None:
    _logger().info(event, **fields)


def warning(event: str, **fields: Any) -> None:
    _logger().warning(event, **fields)


def error(event: str, **fields: Any) -> None:
    _logger().error(event, **fields)
