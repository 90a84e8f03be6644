"""From recorded spans or traces to steps, exclusive stages and device views."""
