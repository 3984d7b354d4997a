"""The engine `claude`: the installed Claude Code command line, headless, in the session's sandbox.

binary finds it, command says how it is called, `inside/relay.py` carries its calls to the model gateway, stream and
evidence read what it printed, verdict says what the session is worth, engine puts it together.
"""
