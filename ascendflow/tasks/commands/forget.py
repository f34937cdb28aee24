"""`doit forget [TASK...]`: forget that tasks ran; they are then restored, not executed."""

from __future__ import annotations

from itertools import chain

from doit.cmd_forget import Forget as DoitForget

from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.pipelines import OF_EACH_BACKEND


class Forget(WithoutTraceback, DoitForget):
    """doit's own, which has no answer where no task is named and none is a default."""

    name = "forget"

    def _execute(
        self, forget_sub: bool, forget_disable_default: bool, forget_all: bool
    ) -> None:
        if self.sel_default_tasks:
            self.sel_tasks = [task.name for task in self.task_list if task.actions]
        of_each = {t.name: t.task_dep for t in self.task_list if t.meta == OF_EACH_BACKEND}
        named = ((name, *of_each.get(name, ())) for name in self.sel_tasks)
        self.sel_tasks = list(chain.from_iterable(named))
        super()._execute(forget_sub, forget_disable_default, forget_all)
