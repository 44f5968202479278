"""Settings of the documentation site: ``python3 run.py docs`` builds it."""

import os
import sys
from pathlib import Path

os.environ["MPLBACKEND"] = "agg"
sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import reference_pages

import rankset

project = "rankset"
author = "the rankset developers"
copyright = author  # noqa: A001 - Sphinx's name
release = version = rankset.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "pictures",
    "reference_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "_pictures", "extensions", "**/README.md"]
templates_path = ["_templates"]
nitpicky = False
smartquotes = False  # docstrings have "auto" and --alpha, which readers copy
suppress_warnings = ["sphinx_gallery.space_in_filename"]  # it means the whole path, which is not ours to choose

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings say what a parameter may be
autodoc_mock_imports = ["dask", "distributed", "pyspark", "sqlalchemy", "torch"]
numpydoc_show_class_members = False  # the templates list them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # types that are not in the list below stay words
numpydoc_xref_aliases = reference_pages.short_names()
autosummary_context = {"public_members": reference_pages.members_of_classes(autodoc_mock_imports)}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(read_rule|rank_or_auto)\.py$",
    "write_computation_times": False,
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("rankset",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "thumbnail_size": (600, 420),
    "within_subsection_order": "gallery_order.GalleryOrder",
}

html_theme = "pydata_sphinx_theme"
html_title = f"rankset {release}"
html_sidebars = {"index": [], "start": [], "search": []}  # nothing stands below these pages
html_static_path = ["_static"]
html_css_files = ["rankset.css"]
html_extra_path = ["llms.txt"]
html_context = {"default_mode": "auto"}  # light or dark as the reader's system
html_search_scorer = str(Path(__file__).parent / "search_order.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "rankset"},
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
