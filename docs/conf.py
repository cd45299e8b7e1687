"""The site: ``make docs`` builds it into docs/_build/html, without a network."""

from typing import Any

from sphinx_gallery.sorting import ExplicitOrder

import deplda

project = "deplda"
author = "the deplda contributors"
release = deplda.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]
templates_path = ["_templates"]

myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # signatures have them; a second list would repeat the parameters
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
napoleon_use_param = False  # types are prose, no names to link
default_role = "code"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Addresses of examples, and of one's own service.
linkcheck_ignore = [r"https?://(127\.0\.0\.1|localhost|[\w.-]*example)\b"]
linkcheck_retries = 2

# Scripts of gallery/ are run, and become pages with their output and notebooks in examples/.
SCRIPTS = (
    "first_model", "own_csv", "explain_document", "rare_labels", "compare_models", "thesaurus",
    "gpu_and_cluster",
)  # fmt: skip
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder([f"{name}.py" for name in SCRIPTS]),
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e6,  # times are of the machine that built the pages
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "deplda"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages that have no section need no list of its pages.
html_sidebars: dict[str, list[str]] = {
    page: []
    for page in (
        "quickstart",
        "reproduction",
        "benchmarks",
        "costs",
        "design",
        "contributing",
        "changes",
    )
}
html_static_path = ["_static"]
html_css_files = ["site.css"]


def of_another_library(
    app: object, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Leave out what estimators inherit from scikit-learn, and tuples from Python."""
    owner = getattr(member, "__objclass__", None)
    home = getattr(member, "__module__", None) or getattr(owner, "__module__", None) or "deplda"
    return None if str(home).startswith("deplda") else True


def setup(app: Any) -> None:
    """Tell Sphinx."""
    app.connect("autodoc-skip-member", of_another_library)
