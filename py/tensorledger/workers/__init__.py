"""Workers as the harness sees them: processes that run scenarios, asked over a channel, watched and replaced."""
