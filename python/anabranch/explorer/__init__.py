"""The explorer: the page that `anabranch explore` serves and `Result.explore` shows in notebooks.

`page.html` and `widget.js` are built from the folder `explorer` of the repository. The page asks
and the engine answers, with the bytes of `anabranch._core.page`.
"""
