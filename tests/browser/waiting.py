"""Waits for a page whose content policy forbids what Playwright's own waiting does after its first look: eval."""

import time


def wait_until(page, condition, seconds=20):
    """Ask again and again whether a JavaScript expression is true; evaluate works where eval is forbidden."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"not true within {seconds} seconds: {condition}"
        page.wait_for_timeout(50)
