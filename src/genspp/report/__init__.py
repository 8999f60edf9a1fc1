"""What people look at: pages, tables, plots."""
