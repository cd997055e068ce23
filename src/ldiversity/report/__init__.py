"""Pictures of estimates, mechanisms and plans."""

from ldiversity.report._figures import save_figure
from ldiversity.report._plots import plot_estimate, plot_inclusion, plot_plan

__all__ = ["plot_estimate", "plot_inclusion", "plot_plan", "save_figure"]
