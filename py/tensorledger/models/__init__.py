"""The models of the two stories, and their saved and converted files."""
