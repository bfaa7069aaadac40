"""How to get a Python library that is missing, where the system's Python takes no packages of pip's (PEP 668)."""

# Libraries that Debian 12 has.
OF_DEBIAN = {"jinja2": "python3-jinja2", "matplotlib": "python3-matplotlib"}


def missing(library, purpose=""):
    """The message for a library that cannot be imported; `purpose` is what it does, between commas."""
    package = f"apt-get install {OF_DEBIAN[library]}, or " if library in OF_DEBIAN else ""
    return (f"the Python library '{library}'{purpose} is missing; install it: {package}"
            f"python3 -m venv ~/venv && . ~/venv/bin/activate && pip install {library}")
