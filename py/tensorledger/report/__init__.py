"""What results look like together: one page, JUnit's XML, Markdown, annotations."""
