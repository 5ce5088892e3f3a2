# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A Slurm of one node for tests: munged, slurmctld and slurmd with a configuration, ports and folders of their own."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))
import labs # pylint: disable=wrong-import-position

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
CONF = """
ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,defer
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """The first program that is not there; None."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return next((name for name in PROGRAMS if shutil.which(name, path=path) is None), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    def __init__(self, folder):
        self.dir = pathlib.Path(folder)
        self.path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        for name in ("state", "spool"):
            (self.dir / name).mkdir()
        (self.dir / "munge.key").write_bytes(bytes(range(1, 129)))
        (self.dir / "munge.key").chmod(0o400)
        conf = CONF.format(dir=self.dir, user="root", host=socket.gethostname().split(".")[0],
                           ports=[free_port(), free_port()])
        (self.dir / "slurm.conf").write_text(conf.strip() + "\n")
        self.env = {**os.environ, "PATH": self.path, "SLURM_CONF": str(self.dir / "slurm.conf")}
        self.running = {}

    def begin(self, name, *args):
        with open(self.dir / f"{name}.out", "a", encoding="utf-8") as out:
            self.running[name] = subprocess.Popen([shutil.which(name, path=self.path), *args], env=self.env,
                                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def start(self):
        self.begin("munged", "--foreground", "--force", f"--key-file={self.dir}/munge.key",
                   f"--socket={self.dir}/munge.socket", f"--pid-file={self.dir}/munged.pid",
                   f"--log-file={self.dir}/munged.log", f"--seed-file={self.dir}/munged.seed")
        labs.wait_path(str(self.dir / "munge.socket"), self.running["munged"])
        self.begin("slurmctld", "-D", "-f", str(self.dir / "slurm.conf"))
        self.start_node()

    def start_node(self):
        self.begin("slurmd", "-D", "-N", "node", "-f", str(self.dir / "slurm.conf"))
        self.wait(lambda: self.ask("sinfo", "--noheader", "--format=%T").strip() in ("idle", "mixed", "allocated"),
                  "node")

    def ask(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=240, check=False).stdout

    def wait(self, condition, what):
        """Until condition(), which asks Slurm."""
        try:
            labs.wait_until(condition, f"no {what}")
        except AssertionError as error:
            logs = [f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in self.dir.glob("*.log")]
            logs += [f"{log.name}: {log.read_text(errors='replace')[-800:]}" for log in self.dir.glob("*.out")]
            raise AssertionError("\n".join((str(error), *logs))) from None

    def kill_node(self):
        self.running["slurmd"].kill()
        self.running.pop("slurmd").wait()

    def stop(self):
        try:
            if "slurmctld" in self.running:
                self.ask("scancel", "--user=" + str(os.getuid()))
                self.wait(lambda: self.ask("squeue", "--noheader").strip() == "", "empty queue")
        finally: # also if Slurm does not answer
            self.end_daemons()

    def end_daemons(self):
        for name in ("slurmd", "slurmctld", "munged"):
            if name in self.running:
                self.running[name].terminate()
                try:
                    self.running[name].wait(10)
                except subprocess.TimeoutExpired:
                    self.running[name].kill()
                    self.running[name].wait()
