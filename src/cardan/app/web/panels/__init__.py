"""The page: tables, menus, models, tasks."""
