"""Write the generated parts of the documentation: what the code says of itself, said once.

`python -m twinhive.surfaces.reference docs` replaces, in each page, what is between `<!-- reference: NAME -->` and
`<!-- end of reference -->`.
"""
