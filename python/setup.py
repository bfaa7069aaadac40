"""Writes into the installed package where the checkout is, whose build has the tools. pyproject.toml has the rest."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPlace(build_py):
    def run(self):
        super().run()
        package = Path(self.build_lib) / "braid"
        if package.is_dir():  # not of an editable installation, which lies in the checkout
            (package / "checkout.txt").write_text(str(Path(__file__).resolve().parents[1]))


setup(cmdclass={"build_py": BuildWithPlace})
