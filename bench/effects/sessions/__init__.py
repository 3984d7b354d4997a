"""Parts of the session step: what a session is shown, what each phase is told, and what it handed in."""
