"""Members that the strategy classes of several eras have, each written once.

An era's class binds them by deriving from the classes of `tpudist.common.strategy`.
To change: what only one era has, or has in another form, belongs into that era's
package; a member needs its rows in `tpudist.surfaces`.
"""
