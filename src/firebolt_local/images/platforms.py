"""Which machines can an image be built for? Also for others than this one: nothing of theirs is run."""

from dataclasses import dataclass
from typing import Final

from firebolt_local.programs.recipes import go_architecture


@dataclass(frozen=True, slots=True)
class Platform:
    architecture: str  # as images and Debian name it
    machine: str  # as wheels name it

    @property
    def is_native(self) -> bool:
        return self.architecture == go_architecture()

    def wheel_tags(self) -> list[str]:
        """For pip; newest first. The C library of the image is newer than all of these."""
        return [f"manylinux_2_28_{self.machine}", f"manylinux_2_17_{self.machine}", f"manylinux2014_{self.machine}"]


PLATFORMS: Final = {each.architecture: each for each in (Platform("amd64", "x86_64"), Platform("arm64", "aarch64"))}


def native() -> Platform:
    return PLATFORMS[go_architecture()]
