"""Names below ``tf`` that lead into the package of Keras.

Keys are the generation of the API, values its names: {dotted name below ``tf``: dotted
name below that generation's Keras}. From TensorFlow 2.16 on the installed Keras has no
first generation, and the second one is of other classes.
"""

# fmt: off
KERAS = {
    "compat.v1": {
        "keras": "",
        "layers": "__internal__.legacy.layers",
        "nn.rnn_cell": "__internal__.legacy.rnn_cell",
    },
    "compat.v2": {
        "initializers": "initializers",
        "keras": "",
        "keras.optimizers": "optimizers",
        "losses": "losses",
        "metrics": "metrics",
        "optimizers": "optimizers",
    },
}

#: What a program is written with, if it names one of these below ``tf``.
USED = frozenset(name for names in KERAS.values() for name in names) - {"initializers", "losses",
                                                                       "metrics"}
