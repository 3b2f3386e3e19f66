"""A ReFrame check that runs a study of bareline and reads its results.

    reframe -C site.py -c bareline_check.py -r -S study=quick -S on=bare,bare-tcp

Each headline figure becomes a performance variable: its value on one platform, its ratio to the
baseline on several (above 1 is worse). References are the site's: set them in a class that
derives from this one. ReFrame 4.3 or later.
"""

import json
import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ

#: bareline's units by the names that stand in ReFrame's reports.
UNITS = {"1": ""}


@rfm.simple_test
class bareline_study(rfm.RunOnlyRegressionTest):
    """Runs a study on the platforms of a partition, the first of which is the baseline."""

    descr = "A study of bareline"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    study = variable(str, value="quick")
    on = variable(typ.List[str], value=["bare"])
    launches = variable(int, value=6)
    platforms = variable(str, value="")
    fail_if = variable(typ.List[str], value=[])

    executable = "bareline"
    time_limit = "2h"

    @run_before("run")
    def set_command(self):
        files = ["--platforms", os.path.abspath(self.platforms)] if self.platforms else []
        platforms = [word for name in self.on for word in ("--on", name)]
        self.executable_opts = [
            "run", self.study, *platforms, *files, "--launches", str(self.launches),
            "--quiet", "--out", "study",
        ]  # fmt: skip
        self.postrun_cmds = ["bareline status study --json > status.json"]
        if len(self.on) == 1:
            self.postrun_cmds += ["bareline show study --json > rows.json"]
        else:
            compare = f"bareline compare study --baseline {self.on[0]}"
            self.postrun_cmds += [f"{compare} --json > rows.json"]
            for condition in self.fail_if:
                quoted = condition.replace("'", "'\\''")
                self.postrun_cmds += [f"{compare} --fail-if '{quoted}' || echo FAILED: '{quoted}'"]

    @sanity_function
    def every_trial_was_measured(self):
        """What failed is no performance; a condition that is met is a failure."""
        (status,) = self.content("status.json")
        return sn.all([
            sn.assert_eq(status["failed"], 0, "bareline: {0} trials failed"),
            sn.assert_gt(status["measured"], 0, "bareline: nothing was measured"),
            sn.assert_not_found(r"^FAILED: ", self.stdout, "bareline: a condition is met"),
        ])  # fmt: skip

    @run_before("performance")
    def set_variables(self):
        """Make a performance variable of each headline figure."""
        key = "value" if len(self.on) == 1 else "ratio"
        self.perf_variables = {
            self.name_of(row): sn.make_performance_function(
                sn.defer(row[key]), self.unit_of(row, key)
            )
            for row in self.content("rows.json")
            if row["headline"] and row[key] is not None
        }

    def content(self, name):
        """Read a JSON file that the job wrote."""
        with open(os.path.join(self.stagedir, name)) as file:
            return json.load(file)

    def name_of(self, row):
        """Name a figure by its probe, metric and parameters, without what ReFrame separates by."""
        params = [f"{key}_{value}" for key, value in row["params"].items()]
        place = [row["platform"]] if len(self.on) > 2 else []
        return re.sub(r"\W+", "_", "_".join([row["probe"], row["metric"], *place, *params]))

    def unit_of(self, row, key):
        """Give the unit; a ratio has none."""
        return UNITS.get(row["unit"], row["unit"]) if key == "value" else "times worse"
