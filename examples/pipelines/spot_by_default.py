"""Training on spot with no line that says so: a step that asks for a GPU prefers spot, by the cluster's policy.

    kfp dsl compile --py spot_by_default.py --output spot_by_default.yaml

Beside it: one step that must not lose its node, by one label.
"""

from base import IMAGE, fetch, merge
from kfp import dsl
from kubeflow_spot import Contract, pipelines


@dsl.component(base_image=IMAGE)
def fit(table: dsl.Input[dsl.Dataset], model: dsl.Output[dsl.Model]) -> float:
    """Fit a line through length and width; return its mean squared error. Stands for training that takes a GPU."""
    import csv
    import json

    with open(table.path) as file:
        rows = [(float(row["length"]), float(row["width"])) for row in csv.DictReader(file)]
    mean_x, mean_y = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in rows) / sum((x - mean_x) ** 2 for x, _ in rows)
    with open(model.path, "w") as file:
        json.dump({"slope": slope, "intercept": mean_y - slope * mean_x}, file)
    return sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in rows) / len(rows)


@dsl.pipeline(name="spot-by-default")
def spot_by_default(url: str = "") -> float:
    table = merge(archive=fetch(url=url).outputs["archive"]).outputs["table"]
    cheap = fit(table=table).set_display_name("fit")
    pipelines.find_driver(pipelines.gpus(cheap))
    pipelines.retry(cheap, times=5, minutes=5)

    # An evaluation that somebody waits for: on demand, whatever the profile's namespace says.
    waited_for = fit(table=table).set_display_name("fit on demand")
    pipelines.find_driver(pipelines.gpus(waited_for))
    pipelines.label(waited_for, Contract.find(), "on-demand")
    return cheap.outputs["Output"]
