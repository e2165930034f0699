"""The data that scenarios and comparisons use, defined by arithmetic."""
