"""Reports of one run, to be mailed or attached: files that open anywhere, made of the dashboard's views and figures."""
