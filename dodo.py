"""The evidence pipeline, declared: source ─► template ─► graph ─► session ─► cell ─► aggregate ─► health ─► report.

Each `task_…` function names one kind of step: what it makes, what it is keyed on, what it needs. It decides nothing.
Words, keys, states and exit codes: README.md and docs/decisions/. `doit init DIR` copies this same file.
"""

from bench.make.stamp import answer

answer(__file__)  # a bare `doit` with nothing to do ends here, before anything else is imported

from bench.layout import record  # noqa: E402 - the stamp answers first
from bench.make import canaries, cells, promotions, rows  # noqa: E402
from bench.make.load import pipeline  # noqa: E402

PIPELINE = pipeline(__file__)
DOIT_CONFIG = PIPELINE.doit_config()
step = PIPELINE.step


def task_template():
    """sanitised, parentless clone of a source at one revision"""
    for name, params, files, hints in rows.sources(PIPELINE):
        yield step("template", name, params, files=files, hints=hints)


def task_graph():
    """program-dependence graph of a template, normalised, free of harness markers"""
    for name, template, params in rows.graphs(PIPELINE):
        yield step("graph", name, params, needs={"template": template})


def task_assets():
    """read-only dependency trees of a benchmark task"""
    for name, params, needs, hints in rows.assets(PIPELINE):
        yield step("assets", name, params, needs=needs, hints=hints)


def task_oracle():
    """hidden grader files of a benchmark task, sealed"""
    for name, params, files in rows.oracles(PIPELINE):
        yield step("oracle", name, params, files=files)


def task_gold():
    """reference solution of a benchmark task, as a patch"""
    for name, template, params, files in rows.golds(PIPELINE):
        yield step("gold", name, params, needs={"template": template}, files=files)


def task_expected():
    """test ids that pass under the reference solution, twice"""
    for name, params, needs in rows.expected(PIPELINE):
        yield step("expected", name, params, needs=needs)


def task_skill():
    """snapshot of an arm's skills with its overlay"""
    for name, params, files in rows.skills(PIPELINE):
        yield step("skill", name, params, files=files)


def task_runtime():
    """what runs sessions: engine, sandbox protocol"""
    for name, params in rows.runtimes(PIPELINE):
        yield step("runtime", name, params)


def task_preflight():
    """free scripted session through all that an engine's sessions need; they wait for it"""
    for name, params, runtime in rows.preflights(PIPELINE):
        yield step("preflight", name, params, needs={"runtime": runtime})


def task_session():
    """the agent's work for one task, arm and run (paid, unless replayed)"""
    for cell in cells.rows(PIPELINE):
        yield step("session", cell.name, cell.session_params, needs=cell.session_needs, **cell.session_terms)


def task_canary():
    """one fresh session of a reused arm for each new candidate: it gates, and is in no median"""
    for canary in canaries.rows(PIPELINE):
        yield step(
            "canary",
            canary.name,
            canary.cell.session_params,
            needs=canary.cell.session_needs | {"candidate": canary.candidate},
            after=canary.after,
            **canary.cell.session_terms,
        )


def task_cell():
    """what authored tests, oracle and scoring say about one session (free)"""
    for cell in cells.rows(PIPELINE):
        yield step(
            "cell",
            cell.name,
            cell.cell_params,
            needs={
                "session": cell.session,
                "template": cell.template,
                "assets": cell.assets,
                "oracle": cell.oracle,
                "expected": cell.expected,
            },
        )


def task_aggregate():
    """medians and counts of a benchmark task, then of the suite"""
    for name, params, needs in rows.aggregates(PIPELINE):
        yield step("aggregate", name, params, needs=needs)


def task_health():
    """state of each arm's measurement; causes are left undetermined"""
    for name in PIPELINE.suites:
        yield step("health", name, {}, needs={"aggregate": record("aggregate", name)} | canaries.needs(PIPELINE, name))


def task_promotion():
    """whether a candidate replaces its incumbent: promotion.json, with every check and its number"""
    for name, params, needs, hints in promotions.rows(PIPELINE):
        needs |= canaries.needs(PIPELINE, params["suite"], [candidate for _, candidate in params["pairs"]])
        yield step("promotion", name, params, needs=needs, hints=hints)


def task_apply():
    """a promoted candidate into the working tree, all or nothing; never part of a bare doit"""
    for name in promotions.applicable(PIPELINE):
        yield {"name": name, "actions": None, "task_dep": [f"promotion:{name}"]}


def task_report():
    """report.md, index.html and results.jsonl of a suite"""
    for name in PIPELINE.suites:
        needs = rows.report_needs(PIPELINE, name) | canaries.needs(PIPELINE, name) | promotions.needs(PIPELINE, name)
        yield step("report", name, rows.report_params(PIPELINE, name), needs=needs)


def task_suite():
    """all of a suite; turns its states into the exit code"""
    for name in PIPELINE.suites:
        judging = canaries.needs(PIPELINE, name), promotions.needs(PIPELINE, name)
        yield {"name": name, "actions": None, "task_dep": PIPELINE.suite_steps(name, *judging)}
