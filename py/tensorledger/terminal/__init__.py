"""Results for people: tables, grids and progress, with rich."""
