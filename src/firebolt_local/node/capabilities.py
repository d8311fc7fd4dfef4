"""What may this process do, being root? Some machines withhold a part of it."""

from pathlib import Path

_SYS_RESOURCE = 24


def has_sys_resource(status: str | None = None) -> bool:
    """Without it no process may be shielded from the kernel's choice when memory runs out."""
    lines = (status or Path("/proc/self/status").read_text()).splitlines()
    effective = next(line.split()[1] for line in lines if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _SYS_RESOURCE & 1)
