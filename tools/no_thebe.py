"""A Sphinx extension that leaves out sphinx-thebe's scripts.

Jupyter Book puts them on every page. The course starts no kernel from a page, and one of the scripts comes twice, which
is an error in the browser's console.
"""


def drop_scripts(app, pagename, templatename, context, doctree) -> None:
    def belongs_to_thebe(script) -> bool:
        return "thebe" in f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', {}).get('body', '')}"

    context["script_files"] = [script for script in context.get("script_files", []) if not belongs_to_thebe(script)]


def setup(app) -> dict:
    app.connect("html-page-context", drop_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
