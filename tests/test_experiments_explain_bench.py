import json
import subprocess
import sys

import pytest

from genspp.experiments import explain_bench


def test_the_time_of_a_process_is_what_it_computed():
    busy = explain_bench._cpu_seconds([sys.executable, "-c", "sum(range(10**7))"])
    idle = explain_bench._cpu_seconds([sys.executable, "-c", "import time; time.sleep(0.3)"])
    assert 0 < idle < busy
    with pytest.raises(subprocess.CalledProcessError):
        explain_bench._cpu_seconds([sys.executable, "-c", "raise SystemExit(3)"])


def test_it_goes_beside_what_was_measured_before(tmp_path, monkeypatch, capsys):
    asked = []

    def timed(command):
        asked.append(command)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # it does explain
        return [9.0, 1.0, 1.25, 1.5][len(asked) - 1]

    monkeypatch.setattr(explain_bench, "_cpu_seconds", timed)
    monkeypatch.setattr(explain_bench, "REPEATS", 3)
    (tmp_path / "b.json").write_text('{"speedup": {"toy": 2}}')
    monkeypatch.setattr(sys, "argv", ["bench", "--out", str(tmp_path / "b.json")])
    explain_bench.main()
    found = json.loads((tmp_path / "b.json").read_text())
    assert found["speedup"] == {"toy": 2} and found["explain"]["cpu_seconds"] == 1.25  # the first is not counted
    assert found["explain"]["machine"]["cores"] and "commit" in found["explain"]["code"]
    assert capsys.readouterr().out.startswith("explain one text: 1.25 s")
