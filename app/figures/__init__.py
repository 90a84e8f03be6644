"""Values in, Plotly figure out: one file per figure."""
